#include "engine/live/bus_reader.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>

namespace kdgat::live {
namespace {

constexpr int64_t kMillisecond = 1'000'000;
/// How often at most frames are fetched: on a busy bus several then cost one waking up, the
/// consumer's included, and one that comes after a silence is fetched at once.
constexpr int64_t kBetweenReadings = kMillisecond * 3 / 5;
/// How often buses that are not up are looked for.
constexpr int64_t kBetweenLooks = 1000 * kMillisecond;
/// How often at most a bus is read again before the other things are done.
constexpr int kReadings = 64;

timespec span_of(int64_t nanoseconds) {
  timespec out{};
  out.tv_sec = static_cast<time_t>(nanoseconds / (1000 * kMillisecond));
  out.tv_nsec = static_cast<long>(nanoseconds % (1000 * kMillisecond));
  return out;
}

}  // namespace

BusReader::BusReader(const std::vector<std::string>& buses, const BusOptions& options)
    : FrameSource(options.queue_frames), woken_(-1), lost_(buses.size()) {
  std::vector<can_filter> filters;
  for (const std::string& text : options.filters) filters.push_back(id_filter(text));
  for (BusAddress& address : bus_addresses(buses)) {
    buses_.push_back(std::make_unique<BusSocket>(
        std::move(address), static_cast<uint8_t>(buses_.size()), filters, options.receive_buffer));
  }
  woken_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (woken_ < 0) {
    throw Error(ExitCode::kUsage, std::string("cannot read a bus: ") + std::strerror(errno));
  }
  polled_.assign(buses_.size() + 1, pollfd{woken_, POLLIN, 0});
}

BusReader::~BusReader() {
  finish();
  ::close(woken_);
}

std::string BusReader::name() const {
  std::string out;
  for (const auto& bus : buses_) out += (out.empty() ? "" : ", ") + bus->name();
  return out;
}

std::vector<std::string> BusReader::exposed() const {
  std::vector<std::string> out;
  for (const auto& bus : buses_) {
    if (bus->is_exposed()) out.push_back(bus->name());
  }
  return out;
}

std::vector<BusCounts> BusReader::counts() const {
  std::vector<BusCounts> out;
  for (const auto& bus : buses_) out.push_back(bus->counts());
  return out;
}

void BusReader::wake() {
  const uint64_t one = 1;
  // It fails only where it was written to before, and then wakes as well.
  [[maybe_unused]] const ssize_t written = ::write(woken_, &one, sizeof(one));
}

void BusReader::run() {
  while (!is_stopped()) {
    wait();
    read_all();
    queue().flush();
    if (monotonic_now() - looked_at_ >= kBetweenLooks) look_after();
  }
  for (const auto& bus : buses_) bus->count_drops();
}

/// Until there is something to read, somebody stops it, or it is time to look after the buses.
void BusReader::wait() {
  const bool is_behind = earliest() != nullptr;  // read_all() left something
  if (!is_behind) pause(read_at_ + kBetweenReadings);
  for (std::size_t i = 0; i < buses_.size(); ++i) {
    polled_[i + 1].fd = buses_[i]->fd();  // below 0 it is left out
    polled_[i + 1].revents = 0;
  }
  const timespec most = span_of(is_behind ? 0 : kBetweenLooks);
  if (::ppoll(polled_.data(), polled_.size(), &most, nullptr) < 0) {
    for (pollfd& polled : polled_) polled.revents = 0;  // for a signal, or want of memory
  }
  read_at_ = monotonic_now();
}

/// Until then, or until it is stopped.
void BusReader::pause(int64_t until) {
  const int64_t left = until - monotonic_now();
  if (left <= 0) return;
  const timespec span = span_of(left);
  pollfd stopped{woken_, POLLIN, 0};
  ::ppoll(&stopped, 1, &span, nullptr);
}

/// What is there, by time. A bus of which there may be more is read again before frames of others
/// are given that may be later.
void BusReader::read_all() {
  for (std::size_t i = 0; i < buses_.size(); ++i) {
    if (polled_[i + 1].revents != 0 && buses_[i]->frame() == nullptr) fetch(*buses_[i]);
  }
  int readings = 0;
  while (BusSocket* bus = earliest()) {
    give(*bus);
    bus->pass();
    if (bus->frame() != nullptr || !bus->has_more()) continue;
    if (++readings == kReadings) return;
    queue().flush();
    fetch(*bus);
  }
}

/// Until there is a frame, or nothing more.
void BusReader::fetch(BusSocket& bus) {
  do {
    bus.receive();
  } while (bus.frame() == nullptr && bus.has_more() && !is_stopped());
}

BusSocket* BusReader::earliest() const {
  BusSocket* out = nullptr;
  for (const auto& bus : buses_) {
    if (bus->frame() != nullptr &&
        (out == nullptr || bus->frame()->frame.time < out->frame()->frame.time)) {
      out = bus.get();
    }
  }
  return out;
}

void BusReader::give(BusSocket& bus) {
  next_ = *bus.frame();
  int64_t& lost = lost_[next_.frame.channel];
  const int64_t ahead = lost + next_.lost;
  next_.lost =
      static_cast<uint32_t>(std::min<int64_t>(ahead, std::numeric_limits<uint32_t>::max()));
  // The clock of the machine may be set, back or ahead.
  const bool is_step = steps_.add(next_.frame.time, next_.received);
  next_.restarts = is_step || last_time_ - next_.frame.time >= data::kClockRestart;
  if (queue().push(next_)) {
    last_time_ = next_.frame.time;
    lost = 0;
    bus.count_given();
  } else {
    lost = ahead + 1;
    bus.count_queue_drop();
  }
}

void BusReader::look_after() {
  looked_at_ = monotonic_now();
  for (const auto& bus : buses_) {
    bus->count_drops();
    bus->revive();
  }
}

}  // namespace kdgat::live
