// Forms of JSON of `kdgat data`, and parts that forms of data and logs share.
#include "pipeline/alarms/traffic.h"
#include "pipeline/data/data_tables.h"
#include "pipeline/verbs/json/json_forms.h"

namespace kdgat {

namespace {

constexpr const char* kWarningKeys = R"(
where    string   file, or file and line; "" = not of one place
message  string   what may be wrong, or is not used
hint     string   what to do about it; "" = nothing
unused?  string   what is not used, in the singular: column, file, error frame
count?   integer  how many of these
)";

constexpr const char* kImportedKeys = R"(
folder       string    of the store
reused       boolean   it was there already
rows         integer   of all sources
graphs       integer   windows, neurons, molecules, ...; of texts and ratings 1
unlabelled   integer   graphs without a label
attack?      integer   of CAN logs: windows with an attack
num_ids?     integer   of CAN logs: ids
parts        object    by name of the part
parts.*      integer   graphs, documents or ratings of the part
sources[]    @source   each file
warnings[]   @warning  what may be wrong, or is not used
unused       object    by name of what is not used: column, file, error frame
unused.*     integer   how many of these
classified?  open      of labelled graphs: more facts of the store
spatial?     open      of graphs in space: the same
text?        open      of texts: the same
ratings?     open      of ratings: the same
molecules?   open      of molecules: the same
build?       open      of texts: what the import took
)";

constexpr const char* kSourceKeys = R"(
path          string   as it was named
scenario      string   its folder; may be ""
role          string   train or test
format        string   form that it was read as
rows          integer  that were read
malformed     integer  rows that were left out
first_graph   integer  of the store, from 0
graphs        integer  made of it
independent?  boolean  its graphs are of different objects
)";

constexpr const char* kInspectedKeys = R"(
path               string   of the store, or of what was imported to look at it
content_hash       string   of the store
facts              open     of the store, in the terms of its domain
options            open     of the import that made it
files[]            open     each source, in the terms of its domain
files[].format     string   form that it was read as
files[].rows       integer  that were read
files[].malformed  integer  rows that were left out
parts              object   by name of the part
parts.*            open     of the part, in the terms of its domain
warnings[]?        @warning  of what is no store: what its import said
unused?            object   of what is no store: by name of what is not used
unused.*           integer  how many of these
memory?            open     of texts: what sharing a mapping saves, bytes
)";

constexpr const char* kVerifiedKeys = R"(
ok          boolean  the store is sound
problems[]  string   why it is not
)";

constexpr const char* kSynthesisedKeys = R"(
folder   string  that was written to
files[]  string  relative to it
)";

constexpr const char* kInjectedKeys = R"(
warnings[]           @warning  what may be wrong
)";

constexpr const char* kConvertedKeys = R"(
warnings[]  @warning  what may be wrong, or is not used
unused      object    by name of what is not used, or of what the form cannot hold
unused.*    integer   how many of these
)";

constexpr const char* kDataPlanKeys = R"(
action      string  import, synth, inject or convert
output      string  what would be written
options     open    that were given
source?     string  of import and convert
sources[]?  string  of inject
)";

}  // namespace

std::vector<JsonPart> json_parts_of_data() {
  return {
      {"warning", kWarningKeys}, {"source", kSourceKeys}, {"delays", record::keys_text<Delays>()}};
}

std::vector<JsonForm> json_forms_of_data() {
  return {
      {"kdgat.data.import", 1, "kdgat data import", "what was imported", kImportedKeys},
      {"kdgat.data.inspect", 1, "kdgat data inspect", "what a store holds", kInspectedKeys},
      {"kdgat.data.verify", 1, "kdgat data verify", "whether a store is sound", kVerifiedKeys},
      {"kdgat.data.synth", 1, "kdgat data synth", "files that were made up", kSynthesisedKeys},
      {"kdgat.data.inject", 1, "kdgat data inject", "logs with attacks",
       record::keys_text<InjectedFiles>() + kInjectedKeys},
      {"kdgat.data.convert", 1, "kdgat data convert", "a log in another form",
       record::keys_text<ConvertedLog>() + kConvertedKeys},
      {"kdgat.data.plan", 1, "kdgat data ACTION --dry-run", "what would be done", kDataPlanKeys},
  };
}

}  // namespace kdgat
