#include "engine/live/bus_reader.h"

#include <linux/can/raw.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "support/can/live_frames.h"
#include "support/can/log_text.h"
#include "support/can/udp_sender.h"

namespace kdgat::live {
namespace {

using test::classic_frame;
using test::fd_frame;
using test::kPatience;
using test::take;
using test::UdpSender;

const std::string kLocal = "udp:127.0.0.1:0";

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// While it lives this thread stays on one processor: the kernel keeps the order of datagrams that
/// one processor sent, not of those of a sender that moved.
class OneProcessor {
 public:
  OneProcessor() {
    ::sched_getaffinity(0, sizeof before_, &before_);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(::sched_getcpu()), &one);
    ::sched_setaffinity(0, sizeof one, &one);
  }
  OneProcessor(const OneProcessor&) = delete;
  OneProcessor& operator=(const OneProcessor&) = delete;
  ~OneProcessor() { ::sched_setaffinity(0, sizeof before_, &before_); }

 private:
  cpu_set_t before_{};
};

/// As long as it exists, the kernel stamps each datagram when it arrives. The kernel starts to do so
/// a while after the first socket of the machine asks for it; earlier datagrams get the time at
/// which they are read.
class KernelStamps {
 public:
  KernelStamps() {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    auto* const address = reinterpret_cast<sockaddr*>(&at);
    const int on = 1;
    REQUIRE(::setsockopt(fd_, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on) == 0);
    REQUIRE(::bind(fd_, address, size) == 0);
    REQUIRE(::getsockname(fd_, address, &size) == 0);
    REQUIRE(::connect(fd_, address, size) == 0);
    REQUIRE(test::comes_true([&] { return is_stamped_before_it_is_read(); }));
  }
  KernelStamps(const KernelStamps&) = delete;
  KernelStamps& operator=(const KernelStamps&) = delete;
  ~KernelStamps() { ::close(fd_); }

 private:
  bool is_stamped_before_it_is_read() const {
    constexpr double kApart = 50e-6;
    const double begin = seconds_now();
    char byte = 0;
    if (::send(fd_, &byte, 1, 0) != 1) return false;
    while (seconds_now() < begin + kApart) continue;
    const double reading = seconds_now();
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(timespec))> control{};
    iovec data{&byte, 1};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    if (::recvmsg(fd_, &message, 0) != 1) return false;
    const cmsghdr* stamp = CMSG_FIRSTHDR(&message);
    if (stamp == nullptr) return false;
    timespec time{};
    std::memcpy(&time, CMSG_DATA(stamp), sizeof time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec) < reading;
  }

  int fd_ = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
};

/// Waits until the counts are so. A frame is counted when it has been given, maybe after it was
/// taken.
template <class IsSo>
bool comes_to(const FrameSource& source, IsSo is_so) {
  return test::comes_true([&] { return is_so(source.counts()); });
}

/// Waits until so many frames of the first bus are counted.
bool counts_frames(const FrameSource& source, int64_t wanted) {
  return comes_to(source, [wanted](const std::vector<BusCounts>& counts) {
    return counts[0].frames == wanted;
  });
}

TEST_CASE("every frame of a bus comes, in order, with the time at which the kernel had it",
          "[bus_reader]") {
  const OneProcessor keeps_order;
  constexpr std::size_t kFrames = 400;
  BusReader reader({kLocal});
  REQUIRE(reader.counts()[0].name.starts_with("udp:127.0.0.1:"));
  CHECK(reader.counts()[0].name != kLocal);
  CHECK(reader.name() == reader.counts()[0].name);
  const UdpSender sender(reader.name());
  const double begin = seconds_now();
  const int64_t begin_moment = monotonic_now();
  reader.start();
  // Some at a pace at which the reader sleeps in between, and some at once.
  sender.send_at(5000, kFrames / 2, [](int64_t i) {
    return classic_frame(static_cast<canid_t>(i), {static_cast<uint8_t>(i), 2, 3});
  });
  for (std::size_t i = kFrames / 2; i < kFrames; ++i) {
    sender.send(classic_frame(static_cast<canid_t>(i), {static_cast<uint8_t>(i), 2, 3}));
  }
  const std::vector<LiveFrame> frames = take(reader, kFrames);
  const double end = seconds_now();
  const int64_t end_moment = monotonic_now();
  REQUIRE(frames.size() == kFrames);
  std::size_t wrong = 0;
  double last = begin - 1e-6;  // times are cut to microseconds
  int64_t last_moment = begin_moment;
  for (std::size_t i = 0; i < kFrames; ++i) {
    const data::CanFrame& frame = frames[i].frame;
    wrong += frame.id != i || frame.length != 3 || frame.payload[0] != (i & 255) ||
             frame.payload[2] != 3 || frame.payload[3] != 0 || frame.channel != 0 ||
             frame.label != -1 || frame.extended || frame.fd || frame.remote;
    wrong += frame.time < last || frame.time > end;
    wrong += static_cast<double>(std::llround(frame.time * 1e6)) / 1e6 != frame.time;
    wrong += frames[i].received > end_moment || frames[i].received < begin_moment;
    wrong += frames[i].lost != 0 || frames[i].restarts;
    last = frame.time;
    last_moment = frames[i].received;
  }
  CHECK(wrong == 0);
  CHECK(last_moment > begin_moment);
  CHECK(counts_frames(reader, kFrames));
  const BusCounts counts = reader.counts()[0];
  CHECK(counts.malformed + counts.error_frames + counts.kernel_drops + counts.queue_drops == 0);
  CHECK(counts.state == BusState::kUp);
}

TEST_CASE("frames of 29 bits, of CAN FD and remote ones are told apart", "[bus_reader]") {
  const OneProcessor keeps_order;
  BusReader reader({kLocal});
  const UdpSender sender(reader.name());
  reader.start();
  sender.send(classic_frame(0x18FEF100 | CAN_EFF_FLAG, {1}));
  can_frame remote = classic_frame(0x7FF | CAN_RTR_FLAG);
  remote.len = 8;  // of the answer
  sender.send(remote);
  sender.send(fd_frame(0x123, 64));
  sender.send(classic_frame(0x123, {1, 2, 3, 4, 5, 6, 7, 8}));
  const std::vector<LiveFrame> frames = take(reader, 4);
  REQUIRE(frames.size() == 4);
  const data::CanFrame &extended = frames[0].frame, &asks = frames[1].frame, &fd = frames[2].frame;
  CHECK(extended.id == 0x18FEF100);
  CHECK(extended.extended);
  CHECK(asks.id == 0x7FF);
  CHECK(asks.remote);
  CHECK_FALSE(asks.extended);
  CHECK(asks.length == 0);
  CHECK(fd.fd);
  CHECK(fd.length == 64);
  CHECK(fd.payload[63] == 63);
  CHECK_FALSE(frames[3].frame.fd);
  CHECK(frames[3].frame.length == 8);
  CHECK(frames[3].frame.payload[7] == 8);
  CHECK(frames[3].frame.payload[8] == 0);
}

TEST_CASE("what is no frame of the bus is counted and left out", "[bus_reader]") {
  const OneProcessor keeps_order;
  BusReader reader({kLocal});
  const UdpSender sender(reader.name());
  reader.start();
  const std::array<uint8_t, 100> bytes{};
  for (const std::size_t size : {0, 1, 15, 17, 71, 73, 100}) sender.send_bytes(bytes.data(), size);
  can_frame long_one = classic_frame(1);
  long_one.len = 9;
  sender.send(long_one);
  canfd_frame long_fd = fd_frame(1, 64);
  long_fd.len = 65;
  sender.send(long_fd);
  sender.send(classic_frame(CAN_ERR_FLAG | 0x40));
  sender.send(classic_frame(0x321));
  const std::vector<LiveFrame> frames = take(reader, 1);
  REQUIRE(frames.size() == 1);
  CHECK(frames[0].frame.id == 0x321);
  CHECK(counts_frames(reader, 1));
  const BusCounts counts = reader.counts()[0];
  CHECK(counts.malformed == 9);
  CHECK(counts.error_frames == 1);
}

TEST_CASE("frames of several buses come by time, each bus a channel", "[bus_reader]") {
  const OneProcessor keeps_order;
  const KernelStamps stamps;
  constexpr uint32_t kFrames = 600;
  BusReader reader({kLocal, kLocal, kLocal});
  std::vector<std::unique_ptr<UdpSender>> senders;
  for (const BusCounts& counts : reader.counts()) {
    senders.push_back(std::make_unique<UdpSender>(counts.name));
  }
  // Ahead of the reading, so that each bus has more than one reading takes.
  for (uint32_t i = 0; i < kFrames; ++i) {
    senders[i * i % 3]->send(classic_frame(i));  // two of three to the second, none to the third
  }
  reader.start();
  const std::vector<LiveFrame> frames = take(reader, kFrames);
  REQUIRE(frames.size() == kFrames);
  std::array<int64_t, 3> seen{};
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < kFrames; ++i) {
    const data::CanFrame& frame = frames[i].frame;
    wrong += frame.channel != frame.id * frame.id % 3;
    if (i > 0) wrong += frame.time < frames[i - 1].frame.time;
    ++seen[frame.channel];
  }
  CHECK(wrong == 0);
  CHECK(comes_to(reader, [&](const std::vector<BusCounts>& counts) {
    return counts[0].frames == seen[0] && counts[1].frames == seen[1] &&
           counts[2].frames == seen[2];
  }));
  CHECK(seen == std::array<int64_t, 3>{200, 400, 0});
}

TEST_CASE("what a full receive buffer lost is counted, and told with the frame behind it",
          "[bus_reader]") {
  const OneProcessor keeps_order;
  constexpr int64_t kFrames = 3000;
  BusOptions options;
  options.receive_buffer = 1;  // the least that the kernel has
  BusReader reader({kLocal}, options);
  const UdpSender sender(reader.name());
  for (int64_t i = 0; i < kFrames; ++i) sender.send(classic_frame(static_cast<canid_t>(i & 0x7FF)));
  reader.start();
  REQUIRE(comes_to(reader, [](const std::vector<BusCounts>& counts) {
    return counts[0].frames + counts[0].kernel_drops == kFrames;
  }));
  const BusCounts counts = reader.counts()[0];
  CHECK(counts.kernel_drops > 0);
  CHECK(counts.frames > 0);
  CHECK(take(reader, static_cast<std::size_t>(counts.frames)).size() ==
        static_cast<std::size_t>(counts.frames));
  sender.send(classic_frame(0x7FE));
  const std::vector<LiveFrame> behind = take(reader, 1);
  REQUIRE(behind.size() == 1);
  CHECK(behind[0].frame.id == 0x7FE);
  CHECK(behind[0].lost == counts.kernel_drops);
  CHECK(reader.counts()[0].kernel_drops == counts.kernel_drops);
}

TEST_CASE("what a slow consumer lost is counted apart, and told with the frame behind it",
          "[bus_reader]") {
  const OneProcessor keeps_order;
  constexpr int64_t kFrames = 500;
  BusOptions options;
  options.queue_frames = 16;
  BusReader reader({kLocal}, options);
  const UdpSender sender(reader.name());
  reader.start();
  for (int64_t i = 0; i < kFrames; ++i) sender.send(classic_frame(static_cast<canid_t>(i)));
  REQUIRE(comes_to(reader, [](const std::vector<BusCounts>& counts) {
    return counts[0].frames + counts[0].queue_drops == kFrames;
  }));
  CHECK(reader.counts()[0].frames == 16);
  CHECK(reader.counts()[0].kernel_drops == 0);
  const std::vector<LiveFrame> frames = take(reader, 16);
  REQUIRE(frames.size() == 16);
  CHECK(frames[15].frame.id == 15);
  sender.send(classic_frame(0x7FE));
  const std::vector<LiveFrame> behind = take(reader, 1);
  REQUIRE(behind.size() == 1);
  CHECK(behind[0].frame.id == 0x7FE);
  CHECK(behind[0].lost == kFrames - 16);
}

TEST_CASE("a silent bus is no end, and stopping one is", "[bus_reader]") {
  const OneProcessor keeps_order;
  BusReader reader({kLocal});
  const UdpSender sender(reader.name());
  reader.start();
  CHECK(reader.next(std::chrono::milliseconds(5)).empty());
  CHECK_FALSE(reader.is_ended());
  sender.send(classic_frame(5));
  REQUIRE(counts_frames(reader, 1));
  reader.stop();
  CHECK(take(reader, 1).size() == 1);  // read ahead of the stop
  CHECK(reader.next(kPatience).empty());
  CHECK(reader.is_ended());

  BusReader other({kLocal});
  other.start();
  std::thread stopper([&] { other.stop(); });
  CHECK(other.next(kPatience).empty());  // it may sleep already, or not yet
  CHECK(other.is_ended());
  stopper.join();
}

TEST_CASE("ids that no filter wants do not come", "[bus_reader]") {
  const OneProcessor keeps_order;
  BusOptions options;
  options.filters = {"120:7F0", "18FEF100:1FFFFF00"};
  BusReader reader({kLocal}, options);
  const UdpSender sender(reader.name());
  reader.start();
  for (const canid_t id :
       {0x120U, 0x130U, 0x120U | CAN_EFF_FLAG, 0x18FEF1FFU | CAN_EFF_FLAG, 0x12FU}) {
    sender.send(classic_frame(id));
  }
  const std::vector<LiveFrame> frames = take(reader, 3);
  REQUIRE(frames.size() == 3);
  CHECK(frames[0].frame.id == 0x120);
  CHECK(frames[1].frame.id == 0x18FEF1FF);
  CHECK(frames[2].frame.id == 0x12F);
}

TEST_CASE("a bus that cannot be opened is named with a cure", "[bus_reader]") {
  const auto fault = [](const std::string& bus) {
    return test::error_of([&] { BusReader reader({bus}); }, ExitCode::kUsage);
  };
  // Without CAN in the kernel that is what is said of it.
  const std::string missing = fault("kdgat-none");
  CHECK(missing.starts_with("cannot read kdgat-none: th"));
  CHECK(missing.find("\n  hint: ") != std::string::npos);
  CHECK(fault("udp:192.0.2.1:5").find("HOST is an address of this machine") != std::string::npos);
  const BusReader first({kLocal});
  CHECK(fault(first.name()).find("another program reads this port") != std::string::npos);
}

/// A virtual CAN interface of its own, where the kernel and its user can have one.
class VirtualBus {
 public:
  VirtualBus() {
    fd_ = ::socket(AF_CAN, SOCK_RAW | SOCK_CLOEXEC, CAN_RAW);
    if (fd_ < 0) {
      WARN("this kernel has no CAN sockets: no virtual bus was read");
      return;
    }
    has_one_ = run("add dev " + name() + " type vcan");
    if (!has_one_ || !set("up")) {
      WARN("no virtual CAN interface could be made: none was read");
      return;
    }
    sockaddr_can address{};
    address.can_family = AF_CAN;
    address.can_ifindex = static_cast<int>(::if_nametoindex(name().c_str()));
    const int is_on = 1;
    ::setsockopt(fd_, SOL_CAN_RAW, CAN_RAW_FD_FRAMES, &is_on, sizeof(is_on));
    is_there_ = ::bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  }
  VirtualBus(const VirtualBus&) = delete;
  VirtualBus& operator=(const VirtualBus&) = delete;
  ~VirtualBus() {
    if (has_one_) run("del dev " + name());
    if (fd_ >= 0) ::close(fd_);
  }

  bool is_there() const { return is_there_; }
  std::string name() const { return "kv" + std::to_string(::getpid()); }
  bool set(const std::string& state) const { return run("set dev " + name() + " " + state); }
  template <class Frame>
  bool send(const Frame& frame) const {
    return ::write(fd_, &frame, sizeof(frame)) == static_cast<ssize_t>(sizeof(frame));
  }

 private:
  static bool run(const std::string& words) {
    return std::system(("ip link " + words + " 2> /dev/null").c_str()) == 0;
  }

  int fd_ = -1;
  bool has_one_ = false, is_there_ = false;
};

TEST_CASE("a CAN interface is read, and again after it was down", "[bus_reader]") {
  const VirtualBus bus;
  if (!bus.is_there()) return;
  BusReader reader({bus.name()});
  reader.start();
  REQUIRE(bus.send(classic_frame(0x123, {1, 2})));
  REQUIRE(bus.send(fd_frame(0x18FEF100 | CAN_EFF_FLAG, 48)));
  const std::vector<LiveFrame> frames = take(reader, 2);
  REQUIRE(frames.size() == 2);
  CHECK(frames[0].frame.id == 0x123);
  CHECK(frames[0].frame.time > 1e9);
  CHECK(frames[1].frame.extended);
  CHECK(frames[1].frame.length == 48);

  const auto is_in = [](BusState state) {
    return [state](const std::vector<BusCounts>& counts) { return counts[0].state == state; };
  };
  REQUIRE(bus.set("down"));
  CHECK(comes_to(reader, is_in(BusState::kDown)));
  REQUIRE(bus.set("up"));
  CHECK(comes_to(reader, is_in(BusState::kUp)));
  CHECK(reader.counts()[0].interruptions == 1);
  REQUIRE(bus.send(classic_frame(0x124)));
  const std::vector<LiveFrame> behind = take(reader, 1);
  REQUIRE(behind.size() == 1);
  CHECK(behind[0].frame.id == 0x124);
}

TEST_CASE("the kernel marks what another socket of this computer sent to a CAN interface",
          "[bus_reader]") {
  const VirtualBus bus;
  if (!bus.is_there()) return;
  BusReader reader({bus.name()});
  reader.start();
  REQUIRE(bus.send(classic_frame(0x123, {1, 2})));
  const std::vector<LiveFrame> frames = take(reader, 1);
  REQUIRE(frames.size() == 1);
  CHECK(frames[0].is_sent_here);
}

TEST_CASE("nothing of a bus over UDP counts as sent here, and ports for all are known",
          "[bus_reader]") {
  BusReader reader({kLocal});
  CHECK(reader.exposed().empty());
  const UdpSender sender(reader.name());
  reader.start();
  sender.send(classic_frame(0x123, {1, 2}));
  const std::vector<LiveFrame> frames = take(reader, 1);
  REQUIRE(frames.size() == 1);
  CHECK_FALSE(frames[0].is_sent_here);
  const BusReader open({"udp:0.0.0.0:0"});
  CHECK(open.exposed() == std::vector<std::string>{open.name()});
}

TEST_CASE("the kernel leaves out ids of a CAN interface that no filter wants", "[bus_reader]") {
  const VirtualBus bus;
  if (!bus.is_there()) return;
  BusOptions options;
  options.filters = {"120:7F0"};
  BusReader reader({bus.name()}, options);
  reader.start();
  for (const canid_t id : {0x130U, 0x120U | CAN_EFF_FLAG, 0x12FU}) {
    REQUIRE(bus.send(classic_frame(id)));
  }
  const std::vector<LiveFrame> frames = take(reader, 1);
  REQUIRE(frames.size() == 1);
  CHECK(frames[0].frame.id == 0x12F);
}

}  // namespace
}  // namespace kdgat::live
