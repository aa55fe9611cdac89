// Forms of JSON of the program itself: plugins, options, the machine, errors.
#include "pipeline/verbs/json/json_forms.h"

namespace kdgat {

namespace {

constexpr const char* kPluginKeys = R"(
name             string   of the stage
version          integer  of the stage
abi              string   of the plugin, MAJOR.MINOR
runtime          string   of LibTorch that it was built with, or none
summary          string   what the stage does
library          string   its file
library_hash     string   xxh3-128 of the file
inputs[]         @port    what it reads
outputs[]        @port    what it makes
options          open     JSON Schema of its options
refused[]        open     published options that it does not have
refused[].name   string   of the option
)";

constexpr const char* kPortKeys = R"(
name      string   of the port
kind      string   of what goes through it
required  boolean  it cannot do without
many      boolean  any number of them
domain?   string   of the data
)";

constexpr const char* kPluginsKeys = R"(
plugins[]  @plugin  by name
)";

constexpr const char* kOptionsListedKeys = R"(
first[]                         object  the options to look at first
first[].name                    string  of the option
first[].advice                  string  what to know of it
first[].stages[]                string  that have it
purposes[]                      object  in the order of docs/options.md
purposes[].title                string  in words
purposes[].options[]            object  by name
purposes[].options[].name       string  of the option
purposes[].options[].stages[]   string  that have it
)";

constexpr const char* kDoctorKeys = R"(
checks[]          object  in the order in which they were done
checks[].check    string  of what
checks[].verdict  string  ok, warn or fail
checks[].finding  string  in words
checks[].hint     string  what to type; "" with ok
)";

constexpr const char* kVersionKeys = R"(
kdgat                   string  version of the program
plugin_abi              string  MAJOR.MINOR
compiler                string  that it was built with
libraries[]?            object  with --all: libraries of others, inside it or opened by it
libraries[].name        string  of the library
libraries[].version     string  of the package it was built with
libraries[].licence     string  an SPDX identifier
libraries[].how         string  inside or opened
libraries[].files       string  which of the program's files
libraries[].purl        string  package URL of its source; "" if unknown
)";

constexpr const char* kHelpKeys = R"(
forms[]          object   each form there is
forms[].schema   string   name and version, as the key schema of answers has it
forms[].name     string   alone
forms[].version  integer  alone
forms[].command  string   that prints it
forms[].lines    boolean  objects a line, without the key schema
forms[].summary  string   in words
)";

constexpr const char* kProblemKeys = R"(
message    string   what is wrong
step?      string   what failed: a step, a trial, a check
hint?      string   what to do about it
file?      string   where it is
line?      integer  of the file, from 1
argument?  integer  of the command line, from 1
where?     string   any other place
log?       string   file of the log of a step
report?    string   file with more about it
)";

constexpr const char* kErrorKeys = R"(
error             object    what ended the command
error.kind        string    the exit code in a word
error.exit_code   integer   see kdgat help exit-codes
error.message     string    what is wrong
error.step?       string    what failed: a step, a trial, a check
error.hint?       string    what to do about it
error.file?       string    where it is
error.line?       integer   of the file, from 1
error.argument?   integer   of the command line, from 1
error.where?      string    any other place
error.log?        string    file of the log of a step
error.report?     string    file with more about it
error.problems[]? @problem  all of them, where there are several; the first is the error
)";

}  // namespace

std::vector<JsonPart> json_parts_of_program() {
  return {{"plugin", kPluginKeys}, {"port", kPortKeys}, {"problem", kProblemKeys}};
}

std::vector<JsonForm> json_forms_of_program() {
  return {
      {"kdgat.config.options", 2, "kdgat config options", "options of stages by purpose",
       kOptionsListedKeys},
      {"kdgat.plugins.list", 1, "kdgat plugins list", "the stages there are", kPluginsKeys},
      {"kdgat.plugins.show", 1, "kdgat plugins show", "one stage", "@plugin"},
      {"kdgat.doctor", 1, "kdgat doctor", "what this machine has", kDoctorKeys},
      {"kdgat.version", 1, "kdgat version", "what this program is", kVersionKeys},
      {"kdgat.help.json", 1, "kdgat help json", "forms of JSON", kHelpKeys},
      {"kdgat.error", 1, "kdgat", "an error, the last line on standard error", kErrorKeys},
  };
}

}  // namespace kdgat
