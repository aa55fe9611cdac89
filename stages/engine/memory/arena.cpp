#include "engine/memory/arena.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <shared_mutex>
#include <utility>

#include "kdgat/host_memory.h"
#include "kdgat/margins.h"

namespace kdgat::memory {
namespace {

// Smaller requests go to malloc: they are many, short-lived and few bytes together.
constexpr std::size_t kLarge = std::size_t{128} << 10;
constexpr std::size_t kPage = 4096;
// Pages go back to the system in huge pages only: half a huge page given back stays in memory.
constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kReported = 12;

std::size_t round_up(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

/// Before each small request.
struct alignas(Arena::kAlignment) Header {
  std::size_t bytes;
  const char* label;
  Arena* arena;
};

thread_local Arena* own = nullptr;  // of this thread, in an OwnArena

/// All arenas that are alive, to find whose an address is.
struct Registry {
  std::shared_mutex mutex;
  std::vector<Arena*> arenas;
};

Registry& registry() {
  static Registry& all = *new Registry;
  return all;
}

}  // namespace

Arena& Arena::instance() {
  if (own != nullptr) return *own;
  static Arena& arena = *new Arena;  // tensors in static storage may outlive everything else
  return arena;
}

bool Arena::holds(const void* pointer) const {
  const char* at = static_cast<const char*>(pointer);
  return at >= base_ && at < base_ + span_;
}

/// The arena in whose range an address lies; null for a small request.
Arena* Arena::owner(const void* large) {
  if (Arena& mine = instance(); mine.holds(large)) return &mine;
  Registry& all = registry();
  const std::shared_lock lock(all.mutex);
  for (Arena* arena : all.arenas) {
    if (arena->holds(large)) return arena;
  }
  return nullptr;
}

void Arena::release(void* pointer) noexcept {
  if (pointer == nullptr) return;
  Arena* arena = owner(pointer);
  if (arena == nullptr) arena = (static_cast<Header*>(pointer) - 1)->arena;
  arena->free(pointer);
}

OwnArena::OwnArena() : arena_(new Arena), before_(std::exchange(own, arena_)) {}

OwnArena::~OwnArena() {
  own = before_;
  // What still holds memory of it is somewhere in the process: then the range stays.
  if (arena_->counters().allocated > 0) {
    arena_->trim();
  } else {
    delete arena_;
  }
}

Arena::Arena() {
  const auto pages = static_cast<std::size_t>(std::max(0L, ::sysconf(_SC_PHYS_PAGES)));
  std::size_t span = round_up(std::max(4 * pages * kPage, std::size_t{64} << 30), kHugePage);
  // Of a limited address space (ulimit -v) the rest of the process keeps a share: libraries still
  // to be loaded, stacks, malloc. The system may allow less still: smaller, then.
  if (const auto left = HostMemory().address_space_left()) {
    span = std::min(span, round_up(static_cast<std::size_t>(*left) / 4 * 3, kHugePage));
  }
  for (; span >= kHugePage; span = round_up(span / 2, kHugePage)) {
    void* range = ::mmap(nullptr, span + kHugePage, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range == MAP_FAILED) {
      if (span == kHugePage) break;
      continue;
    }
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an address is rounded up
    base_ = reinterpret_cast<char*>(round_up(reinterpret_cast<std::size_t>(range), kHugePage));
    span_ = span;
    ::madvise(base_, span_, MADV_HUGEPAGE);  // may be refused: then pages are small
    extents_[base_] = {span_, State::kCold, 0, ""};
    break;
  }
  Registry& all = registry();
  const std::unique_lock lock(all.mutex);
  all.arenas.push_back(this);
}

Arena::~Arena() {
  {
    Registry& all = registry();
    const std::unique_lock lock(all.mutex);
    std::erase(all.arenas, this);
  }
  if (base_ != nullptr) ::munmap(base_, span_);
}

void Arena::count(int64_t bytes, int64_t reserved) {
  counters_.allocated += bytes;
  counters_.reserved += reserved;
  counters_.peak_allocated = std::max(counters_.peak_allocated, counters_.allocated);
  counters_.peak_reserved = std::max(counters_.peak_reserved, counters_.reserved);
}

void* Arena::allocate(std::size_t bytes) noexcept {
  if (bytes == 0) return nullptr;
  const std::lock_guard lock(mutex_);
  try {
    void* memory = allocate_locked(bytes);
    if (memory != nullptr) return memory;
    failure_ = {static_cast<int64_t>(bytes), counters_.allocated, limit_, {}};
    failure_.largest = largest_locked(kReported);
  } catch (const std::bad_alloc&) {  // of the arena's own records
  }
  return nullptr;
}

void* Arena::allocate_locked(std::size_t bytes) {
  ++counters_.allocations;
  if (fail_at_ > 0 && --fail_at_ == 0) return nullptr;
  return bytes >= kLarge ? allocate_large(bytes) : allocate_small(bytes);
}

void* Arena::allocate_small(std::size_t bytes) {
  const std::size_t size = sizeof(Header) + bytes;
  if (limit_ > 0 && counters_.reserved + static_cast<int64_t>(size) > limit_) {
    release_some(size, kPage, nullptr, 0);
    if (counters_.reserved + static_cast<int64_t>(size) > limit_) return nullptr;
  }
  int64_t& labelled = small_[label_];
  void* memory = std::aligned_alloc(kAlignment, round_up(size, kAlignment));
  if (memory == nullptr) return nullptr;
  labelled += static_cast<int64_t>(bytes);
  count(static_cast<int64_t>(bytes), static_cast<int64_t>(size));
  return new (memory) Header{bytes, label_, this} + 1;
}

void Arena::free(void* pointer) noexcept {
  if (pointer == nullptr) return;
  const std::lock_guard lock(mutex_);
  if (!holds(pointer)) {
    Header* header = static_cast<Header*>(pointer) - 1;
    small_[header->label] -= static_cast<int64_t>(header->bytes);
    count(-static_cast<int64_t>(header->bytes),
          -static_cast<int64_t>(sizeof(Header) + header->bytes));
    std::free(header);
    return;
  }
  const auto found = extents_.find(static_cast<char*>(pointer));
  count(-static_cast<int64_t>(found->second.bytes), 0);
  used_ -= found->second.size;
  warm_ += found->second.size;
  found->second.state = State::kWarm;
  merge(found);
}

/// The smallest warm extent that is large enough; the end if there is none.
Arena::Extents::iterator Arena::find_warm(std::size_t size) {
  auto best = extents_.end();
  for (auto at = extents_.begin(); at != extents_.end(); ++at) {
    const Extent& e = at->second;
    if (e.state != State::kWarm || e.size < size) continue;
    if (best == extents_.end() || e.size < best->second.size) best = at;
  }
  return best;
}

void* Arena::allocate_large(std::size_t bytes) {
  if (base_ == nullptr) return nullptr;
  const std::size_t size = round_up(bytes, kPage);
  auto at = find_warm(size);
  if (at == extents_.end()) {
    // The run of free extents that needs the fewest new pages, from its start or to its end.
    char* place = nullptr;
    std::size_t fewest = 0, shortest = 0;
    for (auto first = extents_.begin(); first != extents_.end();) {
      if (first->second.state == State::kUsed) {
        ++first;
        continue;
      }
      auto end = first;
      std::size_t run = 0;
      for (; end != extents_.end() && end->second.state != State::kUsed; ++end) {
        run += end->second.size;
      }
      if (run >= size) {
        const auto cold_in = [&](char* from) {
          std::size_t cold = 0;
          for (auto e = first; e != end; ++e) {
            if (e->second.state != State::kCold) continue;
            char* low = std::max(e->first, from);
            char* high = std::min(e->first + e->second.size, from + size);
            if (low < high) cold += static_cast<std::size_t>(high - low);
          }
          return cold;
        };
        for (char* from : {first->first, first->first + (run - size)}) {
          const std::size_t cold = cold_in(from);
          if (place == nullptr || cold < fewest || (cold == fewest && run < shortest)) {
            place = from;
            fewest = cold;
            shortest = run;
          }
        }
      }
      first = end;
    }
    if (place == nullptr || !make_room(place, size, fewest)) return nullptr;
    at = take(place, size);
  } else {
    at = take(at->first, size);
  }
  at->second.bytes = bytes;
  at->second.label = label_;
  count(static_cast<int64_t>(bytes), 0);
  return at->first;
}

/// Gives warm pages outside [place, place + size) back until these `size` bytes, of which
/// `cold_bytes` are new pages, keep to the limit and to the slack; false if they cannot keep to the
/// limit.
bool Arena::make_room(char* place, std::size_t size, std::size_t cold_bytes) {
  const std::size_t held = static_cast<std::size_t>(counters_.reserved);
  const std::size_t needed = held - warm_ + size;
  const auto limit = static_cast<std::size_t>(limit_);
  if (limit > 0 && needed > limit) return false;
  cut(place);  // so that what lies beside the place in the same extent can go
  if (place + size < base_ + span_) cut(place + size);
  const double need =
      std::max(static_cast<double>(counters_.peak_allocated), static_cast<double>(needed));
  const auto allowed =
      static_cast<std::size_t>(need * (1 + margins::kSlackShare)) + margins::kSlackBytes;
  const std::size_t after = held + cold_bytes;
  if (after > allowed) release_some(after - allowed, kHugePage, place, size);
  const std::size_t now = static_cast<std::size_t>(counters_.reserved) + cold_bytes;
  if (limit > 0 && now > limit) release_some(now - limit, kPage, place, size);
  return true;
}

/// Gives back about `bytes` of warm pages, or all there are, from the largest extents outside
/// [keep, keep + size); returns how many.
std::size_t Arena::release_some(std::size_t bytes, std::size_t granule, const char* keep,
                                std::size_t size) {
  std::size_t done = 0;
  std::vector<std::pair<std::size_t, char*>> warm;
  for (const auto& [address, e] : extents_) {
    if (e.state != State::kWarm) continue;
    if (address < keep + size && address + e.size > keep) continue;
    warm.emplace_back(e.size, address);
  }
  std::sort(warm.rbegin(), warm.rend());
  for (const auto& [extent, address] : warm) {
    if (done >= bytes) break;
    done += release_pages(extents_.find(address), granule);
  }
  return done;
}

/// Gives back what a warm extent holds of whole granules; returns the bytes.
std::size_t Arena::release_pages(Extents::iterator at, std::size_t granule) {
  const auto start = static_cast<std::size_t>(at->first - base_);
  const std::size_t from = round_up(start, granule);
  const std::size_t to = (start + at->second.size) / granule * granule;
  if (from >= to) return 0;
  ::madvise(base_ + from, to - from, MADV_DONTNEED);
  if (from > start) at = split(at, from - start);
  if (to - from < at->second.size) split(at, to - from);
  at->second.state = State::kCold;
  warm_ -= to - from;
  counters_.reserved -= static_cast<int64_t>(to - from);
  counters_.released_bytes += static_cast<int64_t>(to - from);
  ++counters_.releases;
  merge(at);
  return to - from;
}

/// Makes an address the start of an extent.
void Arena::cut(char* address) {
  const auto at = std::prev(extents_.upper_bound(address));
  if (at->first < address) split(at, static_cast<std::size_t>(address - at->first));
}

/// Cuts an extent in two and returns the second.
Arena::Extents::iterator Arena::split(Extents::iterator at, std::size_t size) {
  Extent rest = at->second;
  rest.size -= size;
  at->second.size = size;
  return extents_.emplace_hint(std::next(at), at->first + size, rest);
}

/// Makes [from, from + size), all of it free, one used extent.
Arena::Extents::iterator Arena::take(char* from, std::size_t size) {
  cut(from);
  auto at = extents_.find(from);
  const auto first = at;
  std::size_t left = size, warm = 0;
  while (left > 0) {
    if (at->second.size > left) split(at, left);
    if (at->second.state == State::kWarm) warm += at->second.size;
    left -= at->second.size;
    at = at == first ? std::next(at) : extents_.erase(at);
  }
  first->second.size = size;
  first->second.state = State::kUsed;
  warm_ -= warm;
  used_ += size;
  count(0, static_cast<int64_t>(size - warm));
  return first;
}

/// Joins a free extent with neighbours of its state; returns the whole.
Arena::Extents::iterator Arena::merge(Extents::iterator at) {
  if (const auto next = std::next(at);
      next != extents_.end() && next->second.state == at->second.state) {
    at->second.size += next->second.size;
    extents_.erase(next);
  }
  if (at != extents_.begin()) {
    if (const auto before = std::prev(at); before->second.state == at->second.state) {
      before->second.size += at->second.size;
      extents_.erase(at);
      return before;
    }
  }
  return at;
}

void Arena::set_limit(int64_t bytes) {
  const std::lock_guard lock(mutex_);
  limit_ = bytes;
  const int64_t over = limit_ > 0 ? counters_.reserved - limit_ : 0;
  if (over > 0) release_some(static_cast<std::size_t>(over), kPage, nullptr, 0);
}

int64_t Arena::limit() const {
  const std::lock_guard lock(mutex_);
  return limit_;
}

int64_t Arena::room() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int64_t>(span_ - used_ - warm_);
}

int64_t Arena::trim() {
  const std::lock_guard lock(mutex_);
  return static_cast<int64_t>(release_some(span_, kHugePage, nullptr, 0));
}

Counters Arena::counters() const {
  const std::lock_guard lock(mutex_);
  return counters_;
}

void Arena::reset_peaks() {
  const std::lock_guard lock(mutex_);
  counters_.peak_allocated = counters_.allocated;
  counters_.peak_reserved = counters_.reserved;
}

void Arena::fail_allocation(int64_t n) {
  const std::lock_guard lock(mutex_);
  fail_at_ = n;
}

const char* Arena::set_label(const char* label) {
  const std::lock_guard lock(mutex_);
  return std::exchange(label_, label);
}

std::vector<LiveBlock> Arena::largest(std::size_t count) const {
  const std::lock_guard lock(mutex_);
  return largest_locked(count);
}

Failure Arena::last_failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

std::vector<LiveBlock> Arena::largest_locked(std::size_t count) const {
  std::vector<LiveBlock> out;
  for (const auto& [address, e] : extents_) {
    if (e.state == State::kUsed) out.push_back({static_cast<int64_t>(e.bytes), e.label});
  }
  for (const auto& [label, bytes] : small_) {
    if (bytes > 0) out.push_back({bytes, label});
  }
  std::sort(out.begin(), out.end(),
            [](const LiveBlock& a, const LiveBlock& b) { return a.bytes > b.bytes; });
  if (out.size() > count) out.resize(count);
  return out;
}

}  // namespace kdgat::memory
