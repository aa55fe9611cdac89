// A store of logs that a test makes frame by frame, with their frames (features v3).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/data/can/logs/format_log.h"
#include "engine/data/can/vehicles/stored_log.h"
#include "engine/data/core/graph_domain.h"
#include "engine/graph/graph_store.h"
#include "support/can/log_text.h"
#include "support/graphs/import_options.h"
#include "support/programs/command.h"

namespace kdgat::test {

/// Names of logs ("test_01/dos.csv") and their frames.
using NamedLogs = std::vector<std::pair<std::string, std::vector<data::CanFrame>>>;

/// Writes and imports them in its own folder; a stride of 0 is that of the window.
class LogStore {
 public:
  explicit LogStore(const NamedLogs& logs, int64_t window = 100, int64_t stride = 0) {
    for (const auto& [name, frames] : logs) {
      write_text(folder_ / "logs" / name, data::format_log(frames, "can-train-and-test"));
    }
    import(folder_ / "logs", window, stride == 0 ? window : stride);
  }
  /// Of files that are there.
  explicit LogStore(const std::filesystem::path& source) { import(source, 100, 100); }

  std::filesystem::path data() const { return folder_ / "data"; }
  const ScratchFolder& folder() const { return folder_; }
  const graph::GraphStore& store() const { return *store_; }
  std::vector<data::StoredLog> logs() const { return data::stored_logs(*store_); }
  std::vector<data::StoredLog> training() const { return where(true); }
  std::vector<data::StoredLog> tests() const { return where(false); }

 private:
  void import(const std::filesystem::path& source, int64_t window, int64_t stride) {
    graph::ImportOptions options;
    options.features = "v3";
    options.window = window;
    options.stride = stride;
    graph::import_logs(source, data(), options);
    store_.emplace(graph::GraphStore::open(data() / data::kStoreName));
  }
  std::vector<data::StoredLog> where(bool trains) const {
    std::vector<data::StoredLog> out;
    for (data::StoredLog& log : logs()) {
      if (log.trains() == trains) out.push_back(std::move(log));
    }
    return out;
  }

  ScratchFolder folder_;
  std::optional<graph::GraphStore> store_;
};

/// A frame of one byte.
inline data::CanFrame frame_at(double time, uint32_t id, uint8_t byte = 0, bool attack = false) {
  data::CanFrame out;
  out.time = time;
  out.id = id;
  out.length = 1;
  out.payload[0] = byte;
  out.label = attack ? 1 : 0;
  return out;
}

}  // namespace kdgat::test
