// Made-up documents on topics, for tests, examples and learning without downloads. The same bytes
// for the same options, on every machine.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "engine/data/core/synth_size.h"

namespace kdgat::texts {

/// The text of one document, `options.nodes` words about; its class is `document` modulo
/// `options.classes`. Words are made of syllables, frequent ones short as in real texts, with
/// English stop words, punctuation and addresses between them. A third come from the topic of the
/// class, some of these from the next class's; half of the topics' words all share.
std::string synthetic_text(const data::SynthSize& options, int64_t document);

/// Writes corpus.train.en and corpus.test.en, label<TAB>text a line, below `folder`: every third
/// document of each class is for testing. Throws Error(kData), and Error(kInterrupted) once
/// `cancelled` answers true.
void write_synthetic_texts(const std::filesystem::path& folder, const data::SynthSize& options,
                           const std::function<bool()>& cancelled = {});

}  // namespace kdgat::texts
