#include "engine/data/can/logs/forms/mf4_blocks.h"

#include <zlib.h>

#include <algorithm>

#include "kdgat/error.h"

namespace kdgat::data::mf4 {
namespace {

constexpr std::size_t kHeader = 24;
constexpr std::size_t kMostDescription = std::size_t{1} << 16;
// The standard asks for 4 MiB at most.
constexpr uint64_t kMostUnpacked = uint64_t{64} << 20;

}  // namespace

void Block::refuse() const {
  throw Error(ExitCode::kData,
              "the block " + id + " at byte " + std::to_string(at) + " is too short");
}

File::File(file::ByteReader bytes) : bytes_(std::move(bytes)) {
  constexpr std::size_t kIdentification = 64;
  std::vector<uint8_t> id(kIdentification);
  if (bytes_.read(0, id.data(), id.size()) != id.size()) fail(0, "the file ends inside its header");
  const auto version = file::little<uint16_t>(id.data() + 28);
  if (version < 400 || version >= 500) {
    fail(0,
         "version " + std::to_string(version / 100) + "." + std::to_string(version % 100) +
             " of MDF is not read",
         "save it as MDF 4 (.mf4)");
  }
  if (id[0] != 'U') return;
  constexpr uint16_t kLastLength = 1U << 2, kPayloadOffsets = 1U << 6;
  const auto flags = file::little<uint16_t>(id.data() + 60);
  unfinished_ = {true, (flags & kLastLength) != 0, (flags & kPayloadOffsets) != 0};
}

void File::fail(uint64_t at, const std::string& what, const std::string& hint) const {
  throw Error(ExitCode::kData, what, hint, bytes_.name() + " at byte " + std::to_string(at));
}

Block File::block(uint64_t at, const char* id) const {
  uint8_t header[kHeader];
  if (bytes_.read(at, header, kHeader) != kHeader) fail(at, "the file ends inside a block");
  Block out;
  out.at = at;
  out.length = file::little<uint64_t>(header + 8);
  const auto links = file::little<uint64_t>(header + 16);
  if (header[0] != '#' || header[1] != '#') fail(at, "no block begins here");
  out.id.assign(reinterpret_cast<const char*>(header) + 2, 2);
  if (*id != '\0' && out.id != id) {
    const bool is_name = std::all_of(out.id.begin(), out.id.end(),
                                     [](unsigned char c) { return c >= '0' && c <= 'Z'; });
    fail(at,
         "a block " + std::string(id) + " should begin here" + (is_name ? ", not " + out.id : ""));
  }
  if (links > kMostBlocks || out.length < kHeader + 8 * links) {
    fail(at, "a block of " + std::to_string(out.length) + " bytes with " + std::to_string(links) +
                 " links");
  }
  std::vector<uint8_t> raw(8 * links);
  if (bytes_.read(at + kHeader, raw.data(), raw.size()) != raw.size()) {
    fail(at, "the file ends inside a block");
  }
  for (uint64_t i = 0; i < links; ++i)
    out.links.push_back(file::little<uint64_t>(raw.data() + 8 * i));
  if (out.id == "DT" || out.id == "SD" || out.id == "DV") return out;  // no description
  const uint64_t rest = out.length - out.header_bytes();
  out.data.resize(static_cast<std::size_t>(std::min<uint64_t>(rest, kMostDescription)));
  out.data.resize(bytes_.read(at + out.header_bytes(), out.data.data(), out.data.size()));
  return out;
}

std::string File::text(uint64_t at) const {
  if (at == 0) return "";
  const Block found = block(at);
  const auto end = std::find(found.data.begin(), found.data.end(), uint8_t{0});
  return {found.data.begin(), end};
}

bool holds_values(const File& file, uint64_t at) {
  if (at == 0) return false;
  Block first = file.block(at);
  if (first.id == "HL" && first.link(0) != 0) first = file.block(first.link(0));
  return first.id == "LD" || first.id == "DV";
}

Data::Data(const File& file, uint64_t at, bool is_last) : file_(file), is_last_(is_last) {
  if (at == 0) return;
  const Block first = file.block(at);
  if (first.id == "HL") {
    next_list_ = first.link(0);
  } else if (first.id == "DL" || first.id == "LD") {
    next_list_ = at;
  } else {
    blocks_ = {at};
  }
}

bool Data::next_block() {
  while (next_ == blocks_.size()) {
    if (next_list_ == 0) return false;
    const Block list = file_.block(next_list_);
    if (list.id != "DL" && list.id != "LD") {
      file_.fail(list.at, "a list of data, DL or LD, should begin here");
    }
    if (++lists_ > kMostBlocks) file_.fail(list.at, "the lists of data go round in a circle");
    next_list_ = list.link(0);
    blocks_.assign(list.links.begin() + (list.links.empty() ? 0 : 1), list.links.end());
    if (list.id == "LD") {  // behind its blocks of values stand those of what is invalid
      const auto values = list.at_byte<uint32_t>(4);
      if (values < blocks_.size()) blocks_.resize(values);
    }
    // Room for more blocks than there are: the links behind them are 0.
    std::erase(blocks_, 0U);
    next_ = 0;
  }
  const uint64_t at = blocks_[next_++];
  open(at, is_last_ && next_ == blocks_.size() && next_list_ == 0);
  return true;
}

void Data::open(uint64_t at, bool is_end) {
  const Block block = file_.block(at);
  at_ = at;
  // Each byte of the file is data once: a small file cannot say very much.
  stored_ += is_end ? block.header_bytes() : block.length;
  if (stored_ > file_.bytes().size() + block.length) file_.fail(at, "blocks of data overlap");
  if (block.id == "DZ") {
    unpack(block);
    return;
  }
  if (block.id != "DT" && block.id != "SD" && block.id != "DV") {
    file_.fail(at, "a block of data should begin here");
  }
  from_ = at + block.header_bytes();
  left_ = block.length - block.header_bytes();
  const uint64_t there = file_.bytes().size() - std::min(from_, file_.bytes().size());
  if (is_end && file_.unfinished().last_length) left_ = there;
  if (left_ > there) {
    left_ = there;
    is_cut_ = true;
  }
}

void Data::unpack(const Block& block) {
  constexpr std::size_t kPlaceOfData = 24;
  const auto kind = block.at_byte<uint8_t>(2);
  const auto width = block.at_byte<uint32_t>(4);
  const auto size = block.at_byte<uint64_t>(8), stored = block.at_byte<uint64_t>(16);
  constexpr uint64_t kMostRatio = 1100;  // of deflate
  if (kind > 1) file_.fail(block.at, "the data is packed by an unknown method");
  if (size > kMostUnpacked || stored > block.length || size / kMostRatio > stored) {
    file_.fail(block.at, "a packed block of " + std::to_string(size) + " bytes");
  }
  std::vector<uint8_t> packed(
      static_cast<std::size_t>(std::min<uint64_t>(stored, file_.bytes().size() - block.at)));
  const std::size_t got = file_.bytes().read(block.at + block.header_bytes() + kPlaceOfData,
                                             packed.data(), packed.size());
  if (got < stored) {
    is_cut_ = true;
    return;
  }
  unpacked_.resize(static_cast<std::size_t>(size));
  used_ = 0;
  uLongf bytes = unpacked_.size();
  if (size > 0 && (::uncompress(unpacked_.data(), &bytes, packed.data(), packed.size()) != Z_OK ||
                   bytes != size)) {
    file_.fail(block.at, "the packed block that begins here is damaged");
  }
  if (kind == 0 || width <= 1) return;
  // It was stored column by column; what fills no row follows as it is.
  const std::size_t rows = unpacked_.size() / width;
  std::vector<uint8_t> turned = unpacked_;
  for (std::size_t column = 0; column < width && rows > 0; ++column) {
    const uint8_t* from = unpacked_.data() + column * rows;
    uint8_t* to = turned.data() + column;
    for (std::size_t row = 0; row < rows; ++row) to[row * width] = from[row];
  }
  unpacked_ = std::move(turned);
}

std::size_t Data::read(uint8_t* to, std::size_t room) {
  for (;;) {
    if (used_ < unpacked_.size()) {
      const std::size_t bytes = std::min(room, unpacked_.size() - used_);
      std::copy_n(unpacked_.data() + used_, bytes, to);
      used_ += bytes;
      return bytes;
    }
    if (left_ > 0) {
      const std::size_t bytes =
          file_.bytes().read(from_, to, static_cast<std::size_t>(std::min<uint64_t>(room, left_)));
      from_ += bytes;
      left_ -= bytes;
      if (bytes == 0) left_ = 0;
      if (bytes > 0) return bytes;
    }
    if (is_cut_ || !next_block()) return 0;
  }
}

}  // namespace kdgat::data::mf4
