// Forms of JSON of verbs that judge logs and buses, and hand models over.
#include "pipeline/alarms/traffic.h"
#include "pipeline/verbs/json/json_forms.h"

namespace kdgat {

namespace {

constexpr const char* kWindowKeys = R"(
file        string       name of the log; of one channel of it NAME#CHANNEL
window      integer      its number in the log, from 0
time        number|null  of its first row, in the log's own clock, seconds; null = none
row         integer      its first row, from 0
ids         integer      distinct ids
score       number       see kdgat score --help
decision    string       attack, benign or calibration
reasons[]?  string       of a flagged window, in words, the first one most
)";

constexpr const char* kAlarmKeys = R"(
event         string       alarm
file          string       name of the log or bus
alarm         integer      its number in the log, from 0
open          boolean      it may go on; a line with false follows
begin         number|null  of its first row, in the log's own clock, seconds; null = none
end           number|null  of its last row so far, seconds
first_window  integer      that was flagged
last_window   integer      that was flagged, so far
windows       integer      that were flagged, so far
peak          number       the highest score
ids[]         string       that made it, in hexadecimal, the first one most; of bus 1 as 1:2C0
names[]?      string       of the ids, with --dbc; "" = it has none
reasons[]?    string       in words
model?        string       xxh3-128 of the file of the model
)";

constexpr const char* kWhyKeys = R"(
file                 string       name of the log
window               integer      its number in the log, from 0
row                  integer      its first row, from 0
time                 number|null  of its first row, in the log's own clock, seconds
end                  number|null  of its last row, seconds
score                number       by the rule of alarms
alone                number       of the window alone
threshold            number       above which it is flagged
decision             string       attack, benign or calibration
vehicle              string|null  that it is compared with; null = the beginning of the log
everything_else      number       the part of the score that no reason has
alarm                object|null  that it is the highest window of
alarm.number         integer      in the log, from 0
alarm.begin          number|null  of its first row, seconds
alarm.end            number|null  of its last row, seconds
alarm.first_window   integer      that was flagged
alarm.last_window    integer      that was flagged
alarm.windows        integer      that were flagged
reasons[]               object        the first one most
reasons[].contribution  number        what the score falls by without these ids
reasons[].words         string        what they did
reasons[].frames        integer       of these ids, in the window
reasons[].more          integer       ids beside those in the list
reasons[].ids[]                         object        those that are told of
reasons[].ids[].id                      string        in hexadecimal
reasons[].ids[].name?                   string        of its message, with --dbc
reasons[].ids[].known                   boolean       the vehicle has it
reasons[].ids[].frames                  integer       in the window
reasons[].ids[].usual_frames            number|null   in a window of the vehicle
reasons[].ids[].shortest_gap_ms         number|null   between two frames, ms
reasons[].ids[].longest_gap_ms          number|null   between two frames, ms
reasons[].ids[].usual_gap_ms            number|null   between two frames, ms
reasons[].ids[].off_ms                  number|null   beside its usual time, ms
reasons[].ids[].silent_ms               number|null   without a frame, ms
reasons[].ids[].wrong_lengths[]         integer       bytes
reasons[].ids[].usual_lengths[]         integer       bytes
reasons[].ids[].constant_bytes_changed[] integer      bytes of the payload, from 0
reasons[].ids[].bytes_jumped[]          integer       bytes of the payload, from 0
reasons[].ids[].bytes_repeated[]        integer       bytes of the payload, from 0
reasons[].ids[].signals?                object        with --dbc: by the number of a byte above
reasons[].ids[].signals.*[]             string        signals in that byte
)";

constexpr const char* kLigandKeys = R"(
molecule  string   name of the pocket
rank      integer  from 1
ligand    string   its name
distance  number   from the pocket, as the encoder has it
)";

constexpr const char* kClassKeys = R"(
graph      integer  its number in the data, from 0
label      string   its class in the data; "" = not known
predicted  string   the class of the highest probability
*          number   the probability of each class, by name of its column
)";

constexpr const char* kAdaptedKeys = R"(
vehicle                string       that was added
replaced               string|null  the vehicle that it takes the place of
vehicles               integer      that the detector knows now
ids                    integer      of the vehicle
rows                   integer      of the logs
attack_rows            integer      left out, as labels say so
windows                integer      that were learned from
seconds                number       of traffic, seconds
parameters             integer      of the detector
false_alarms_per_hour  number       the budget of the threshold, in windows
)";

constexpr const char* kExportedKeys = R"(
files                         object   by name
files.*                       integer  bytes
checks[]                      object   that were done
checks[].what                 string   against what
checks[].where                string   on which windows
checks[].windows              integer  that were compared
checks[].largest_difference   number   of scores
checks[].decisions_differ     integer  windows
checks[].holds                boolean  it passed
checks[].auc?                 number   of rounded weights
checks[].exact_auc?           number   of exact weights
checks[].f1?                  number   of rounded weights
checks[].exact_f1?            number   of exact weights
not_checked[]                 string   and why
size?                         object   of C, where there is a compiler
size.compiler                 string   that was measured with
size.flash                    integer  bytes
size.state                    integer  bytes
size.memory                   integer  of the heap, bytes
size.stack                    integer  bytes
)";

}  // namespace

std::vector<JsonForm> json_forms_of_logs() {
  using Kind = JsonForm::Kind;
  return {
      {"kdgat.score.window", 1, "kdgat score", "a window of a log", kWindowKeys, Kind::kLines},
      {"kdgat.score.alarm", 1, "kdgat score",
       "an alarm as it opens, and as it is over; kdgat watch and --alarm write it too", kAlarmKeys,
       Kind::kLines},
      {"kdgat.score.ligand", 1, "kdgat score", "a ligand for a pocket", kLigandKeys, Kind::kLines},
      {"kdgat.score.class", 1, "kdgat score", "a labelled graph", kClassKeys, Kind::kLines},
      {"kdgat.watch.traffic", 1, "kdgat watch", "the traffic, at each heartbeat",
       "event string traffic\n" + record::keys_text<Traffic>(), Kind::kLines},
      {"kdgat.why", 1, "kdgat why", "what made the score of a window", kWhyKeys, Kind::kLines},
      {"kdgat.adapt", 1, "kdgat adapt", "a vehicle that was added to a detector", kAdaptedKeys},
      {"kdgat.export", 1, "kdgat export", "a model that was written for use without kdgat",
       kExportedKeys},
  };
}

}  // namespace kdgat
