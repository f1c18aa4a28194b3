#include "io/gzip.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <zlib.h>

#include "base/error.hpp"

namespace crossbow {
namespace {

constexpr int gzip_only =
    15 + 16;  // window bits of zlib: 32 KiB, and a gzip header is a must

// One zlib stream over the whole input; ends itself.
class Inflater {
 public:
  Inflater(const std::vector<std::uint8_t>& bytes, std::string path)
      : bytes_(bytes), path_(std::move(path)) {
    check(inflateInit2(&stream_, gzip_only));
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  Inflater(Inflater&&) = delete;
  Inflater& operator=(Inflater&&) = delete;

  std::vector<std::uint8_t> run(std::size_t limit);

 private:
  void feed();
  void next_member();
  void check(int result) const;
  [[noreturn]] void fail(const std::string& what, const std::string& why) const;

  const std::vector<std::uint8_t>& bytes_;
  std::string path_;
  z_stream stream_ = {};
  std::size_t fed_ = 0;   // bytes of the input given to zlib so far
  std::size_t have_ = 0;  // bytes of the output
};

void Inflater::fail(const std::string& what, const std::string& why) const {
  throw Error(ExitCode::data,
              ErrorText{.what = what,
                        .why = why,
                        .where = path_ + ", offset " + std::to_string(have_) +
                                 " of the uncompressed bytes",
                        .remedy = "Take another copy of the file"});
}

void Inflater::check(int result) const {
  if (result == Z_DATA_ERROR || result == Z_NEED_DICT) {
    fail("the gzip data are damaged", stream_.msg == nullptr ? "no reason" : stream_.msg);
  }
  if (result == Z_MEM_ERROR || result == Z_STREAM_ERROR || result == Z_VERSION_ERROR) {
    fail("the file cannot be uncompressed", zError(result));
  }
}

void Inflater::feed() {
  if (stream_.avail_in == 0) {
    const std::size_t most = std::numeric_limits<uInt>::max();
    const std::size_t size = std::min(bytes_.size() - fed_, most);
    // zlib's interface is older than const; it does not write to its input.
    stream_.next_in = const_cast<Bytef*>(bytes_.data() + fed_);
    stream_.avail_in = static_cast<uInt>(size);
    fed_ += size;
  }
}

// A gzip file may be several put together; anything else after the end is a fault.
void Inflater::next_member() {
  feed();
  const std::size_t rest = bytes_.size() - fed_ + stream_.avail_in;
  const Bytef* next = stream_.next_in;
  if (rest < 2 || next[0] != 0x1f || next[1] != 0x8b) {
    fail(std::to_string(rest) + " bytes follow the end of the gzip data",
         "the first is " + std::to_string(next[0]));
  }
  check(inflateReset(&stream_));
}

std::vector<std::uint8_t> Inflater::run(std::size_t limit) {
  constexpr std::size_t step = 4 << 20;
  std::vector<std::uint8_t> output;
  while (have_ < limit) {
    feed();
    output.resize(std::min(limit, have_ + step));
    stream_.next_out = output.data() + have_;
    const std::size_t room = output.size() - have_;
    stream_.avail_out = static_cast<uInt>(room);
    const int result = inflate(&stream_, Z_NO_FLUSH);
    have_ += room - stream_.avail_out;
    check(result);
    const bool all_fed = stream_.avail_in == 0 && fed_ == bytes_.size();
    if (result == Z_STREAM_END && all_fed) {
      break;
    }
    if (result == Z_STREAM_END) {
      next_member();
    } else if (all_fed && stream_.avail_out > 0) {
      fail("the gzip data end too early", "the file is cut");
    }
  }
  output.resize(have_);
  return output;
}

}  // namespace

bool is_gzip(const std::vector<std::uint8_t>& bytes) {
  return bytes.size() >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

std::vector<std::uint8_t> gunzip(const std::vector<std::uint8_t>& bytes,
                                 std::size_t limit,
                                 const std::string& path) {
  return Inflater(bytes, path).run(limit);
}

}  // namespace crossbow
