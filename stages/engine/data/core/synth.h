// Made-up data of every domain, for tests, examples and the smoke profile: the whole of `kdgat data
// synth`. The same bytes for the same options, on every machine.
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string_view>

#include "engine/data/core/domain.h"

namespace kdgat::data {

/// Raised when the bytes written for the same options change.
inline constexpr int kSynthVersion = 1;

/// Schema of the profile's `synth:` section: `kind`, and the options of all domains.
nlohmann::json synth_schema(Domains domains);

/// The domain of `values.kind`, or the default. Throws Error(kUsage) if there is none.
const Domain& domain_of_synth(Domains domains, const nlohmann::json& values);

/// All that decides what is written; of the default kind without its name.
nlohmann::json synth_identity(Domains domains, const nlohmann::json& values);

/// Writes input of the domain below `folder`; nothing that an import with the options `import`
/// would leave out. Throws Error(kUsage), Error(kData), and Error(kInterrupted) once `cancelled`.
void write_synthetic(Domains domains, const std::filesystem::path& folder,
                     const nlohmann::json& values, const nlohmann::json& import = {},
                     const std::function<bool()>& cancelled = {});

/// The same as one text, for standard output; see Domain::stream_synthetic().
void stream_synthetic(Domains domains, const nlohmann::json& values,
                      const std::function<void(std::string_view)>& write,
                      const std::function<bool()>& cancelled = {});

/// Of a data set made up so, in words.
std::string synth_headline(Domains domains, const nlohmann::json& values,
                           const nlohmann::json& facts);

}  // namespace kdgat::data
