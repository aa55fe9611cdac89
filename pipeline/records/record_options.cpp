#include "pipeline/records/record_options.h"

#include "pipeline/records/mlflow_address.h"

namespace kdgat {

std::vector<Diagnostic> RecordOptions::validate() const try {
  if (!mlflow_uri.empty() && mlflow_uri != "none") mlflow_kind(mlflow_uri);
  return {};
} catch (const Error& e) {
  return e.diagnostics();
}

OptionSection record_section() {
  return {options_schema<RecordOptions>(), [](const nlohmann::json& values) {
            try {
              load_options<RecordOptions>(values);
              return std::vector<Diagnostic>();
            } catch (const Error& e) {
              return e.diagnostics();
            }
          }};
}

}  // namespace kdgat
