#include "fields/texts/data/texts_domain.h"

#include <utility>

#include "engine/data/core/store_domain.h"
#include "fields/texts/data/synth_text.h"
#include "fields/texts/data/text_import.h"
#include "fields/texts/data/text_store.h"

namespace kdgat::texts {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

class TextsInput : public data::DomainInput {
 public:
  TextsInput(TextInput input, TextImportOptions options)
      : DomainInput(input.files), input_(std::move(input)), options_(std::move(options)) {}

  void import(const data::ImportCall& call) const override {
    import_text({input_, options_, call.cancelled, call.done}, call.made_with, call.to,
                call.report);
  }

 private:
  TextInput input_;
  TextImportOptions options_;
};

/// Documents of each part, by class.
json parts_of(const TextStore& store) {
  json out = json::object();
  for (const char* part : kTextParts) {
    std::vector<int64_t> classes(static_cast<std::size_t>(store.classes()), 0);
    int64_t documents = 0;
    const std::span<const bool> mask = store.mask(part);
    for (std::size_t node = 0; node < mask.size(); ++node) {
      if (!mask[node]) continue;
      ++documents;
      ++classes.at(static_cast<std::size_t>(store.y()[node]));
    }
    out[part] = {{"documents", documents}, {"classes", classes}};
  }
  return out;
}

/// What sharing the mapping saves, and what other forms of the graph would take.
json memory_of(const TextStore& store, const json& parts) {
  int64_t splits = 0;
  for (const json& part : parts) splits += part.at("documents") > 0 ? 1 : 0;
  constexpr int64_t kPairBytes = 2 * sizeof(int64_t) + sizeof(float);
  const int64_t cached = store.mapped_bytes();
  return {{"cached_bytes", cached},
          {"splits", splits},
          {"saved_bytes", (splits - 1) * cached},
          {"saved_share", static_cast<double>(splits - 1) / static_cast<double>(splits)},
          {"coo_bytes", kPairBytes * store.nonzeros()},
          {"identity_bytes", int64_t{sizeof(float)} * store.nodes() * store.nodes()}};
}

class TextsDomain
    : public data::WithOptions<data::StoreDomain<TextStore>, TextImportOptions, data::SynthSize> {
 public:
  const char* name() const override { return "texts"; }
  std::vector<std::string> formats() const override { return text_formats(); }
  std::vector<data::MistakenOption> mistaken_options() const override {
    return {{"window", "of texts the words of a window are word_window", "word_window"}};
  }

  std::optional<Diagnostic> near(const fs::path& source, const json& values) const override {
    return near_texts(source, data::own_options<TextImportOptions>(values));
  }

  data::Found find(const fs::path& source, const json& values) const override {
    const auto options = data::own_options<TextImportOptions>(values);
    data::Notes left_out;
    const auto input = find_text_input(source, options, left_out);
    if (!input) return {};
    const bool is_sure = options.format != "auto" || !may_be_other_data(input->format);
    return {is_sure ? data::Sureness::kSure : data::Sureness::kPossible,
            [input, options, left_out](data::Notes& notes) {
              notes.insert(notes.end(), left_out.begin(), left_out.end());
              return std::make_shared<TextsInput>(*input, options);
            }};
  }

  const char* source_word() const override { return "texts"; }

  const char* facts_key() const override { return "text"; }
  const data::Wording& wording() const override { return texts_wording(); }

  std::vector<data::SynthKind> synth_kinds() const override {
    return {{"text", "documents on topics (label<TAB>text)"}};
  }
  void synthesize(const fs::path& folder, const json& values, const json&,
                  const std::function<bool()>& cancelled) const override {
    write_synthetic_texts(folder, data::own_options<data::SynthSize>(values), cancelled);
  }

 protected:
  /// "parts": {name: {"documents","classes"}}, "memory": {"cached_bytes": of the mapping, "splits":
  /// parts that are not empty, "saved_bytes", "saved_share": by sharing it, "coo_bytes": as pairs
  /// of int64 and float32, "identity_bytes": of N x N features, which are never allocated}.
  void add_counts(const TextStore& store, json& seen) const override {
    seen["parts"] = parts_of(store);
    seen["memory"] = memory_of(store, seen.at("parts"));
  }
};

}  // namespace

const data::Domain& texts_domain() {
  static const TextsDomain domain;
  return domain;
}

}  // namespace kdgat::texts
