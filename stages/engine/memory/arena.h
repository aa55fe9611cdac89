// Arena: the host memory of all tensors and batches of a process. Counts every byte, keeps freed
// pages warm for the next step, gives them back on demand, and can be held under a limit.
//
// All of it lies in one range of addresses, so that a page given back costs no address space and
// memory does not fragment: what is not in use can always be returned to the system.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace kdgat::memory {

/// Bytes; of requests as they were asked (allocated), and of pages in memory (reserved: in use or
/// kept warm).
struct Counters {
  int64_t allocated = 0, reserved = 0;
  int64_t peak_allocated = 0, peak_reserved = 0;
  int64_t allocations = 0;  ///< requests so far, also those that failed
  int64_t releases = 0, released_bytes = 0;
};

/// A request that is live, for reports.
struct LiveBlock {
  int64_t bytes = 0;
  const char* label = "";
};

/// The last request that found no memory.
struct Failure {
  int64_t bytes = 0, allocated = 0, limit = 0;
  std::vector<LiveBlock> largest;  ///< then live, largest first
};

class Arena {
 public:
  static constexpr std::size_t kAlignment = 64;

  /// The one of the calling thread: the process's, which is never destroyed, but in an OwnArena.
  static Arena& instance();
  /// Frees what any arena gave, in any thread.
  static void release(void* pointer) noexcept;

  Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena();

  /// Aligned to kAlignment, not initialised; null when the limit or the system has no more. Any
  /// thread. Zero bytes give null, too.
  void* allocate(std::size_t bytes) noexcept;
  void free(void* pointer) noexcept;

  /// Most bytes reserved at once; 0 = no limit. What is warm beyond it is given back; what is in
  /// use may lie above it.
  void set_limit(int64_t bytes);
  int64_t limit() const;

  /// Bytes of its range without pages behind them: of large requests no more can come on top of
  /// what is reserved. Only a limit of the address space makes this less than the machine's memory.
  int64_t room() const;

  /// Gives every warm page back to the system; returns the bytes.
  int64_t trim();

  Counters counters() const;
  /// Peaks begin anew at what is held now.
  void reset_peaks();

  /// For tests: the `n`-th request from now on fails, once; 0 = none.
  void fail_allocation(int64_t n);

  /// Names what is allocated from now on; a literal. Returns the label before.
  const char* set_label(const char* label);
  /// The largest live requests, largest first.
  std::vector<LiveBlock> largest(std::size_t count) const;
  Failure last_failure() const;

 private:
  enum class State : uint8_t { kCold, kWarm, kUsed };  // cold: no pages behind it
  struct Extent {
    std::size_t size = 0;
    State state = State::kCold;
    std::size_t bytes = 0;  // as asked, if used
    const char* label = "";
  };
  using Extents = std::map<char*, Extent>;

  friend class OwnArena;
  static Arena* owner(const void* large);
  bool holds(const void* pointer) const;
  void* allocate_locked(std::size_t bytes);
  void* allocate_large(std::size_t bytes);
  void* allocate_small(std::size_t bytes);
  std::vector<LiveBlock> largest_locked(std::size_t count) const;
  Extents::iterator find_warm(std::size_t size);
  bool make_room(char* place, std::size_t size, std::size_t cold_bytes);
  std::size_t release_some(std::size_t bytes, std::size_t granule, const char* keep,
                           std::size_t size);
  std::size_t release_pages(Extents::iterator at, std::size_t granule);
  Extents::iterator take(char* from, std::size_t size);
  void cut(char* address);
  Extents::iterator split(Extents::iterator at, std::size_t size);
  Extents::iterator merge(Extents::iterator at);
  void count(int64_t bytes, int64_t reserved);

  mutable std::mutex mutex_;
  char* base_ = nullptr;
  std::size_t span_ = 0;
  Extents extents_;                  // cover the whole range; neighbours of one free state are one
  std::size_t used_ = 0, warm_ = 0;  // of the range, page-rounded
  int64_t limit_ = 0;
  int64_t fail_at_ = 0;
  const char* label_ = "";
  std::map<const char*, int64_t> small_;  // bytes of small requests by label
  Counters counters_;
  Failure failure_;
};

/// An arena of its own for the calling thread while it lives: counts and limits one of several
/// stages that run in threads of a process. Memory it gave may outlive it.
class OwnArena {
 public:
  OwnArena();
  OwnArena(const OwnArena&) = delete;
  OwnArena& operator=(const OwnArena&) = delete;
  ~OwnArena();

 private:
  Arena* arena_;
  Arena* before_;
};

/// Names what is allocated while it lives.
class Label {
 public:
  explicit Label(const char* label) : before_(Arena::instance().set_label(label)) {}
  Label(const Label&) = delete;
  Label& operator=(const Label&) = delete;
  ~Label() { Arena::instance().set_label(before_); }

 private:
  const char* before_;
};

}  // namespace kdgat::memory
