#include "classifier/classifier_options.h"

namespace kdgat {

// Here alone, and not joined with other sources: a fifth of what the compiler would have to do for
// each change of the stage.
template nlohmann::json train::result_options(const classifier::ClassifierOptions& options);

}  // namespace kdgat
