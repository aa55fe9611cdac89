#include "pipeline/data.h"

#include "graph/import.h"
#include "graph/synth.h"

namespace kdgat {

SectionSchemas data_schemas() {
  return {options_schema<graph::ImportOptions>(), options_schema<graph::SynthOptions>()};
}

}  // namespace kdgat
