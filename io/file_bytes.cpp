#include "io/file_bytes.hpp"

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace crossbow {
namespace {

namespace fs = std::filesystem;

// Closes on every way out; nothing can be lost on closing a file that was only read.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) {
      close(number_);
    }
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  int get() const { return number_; }

 private:
  int number_;
};

std::string remedy_for(int error_number) {
  switch (error_number) {
    case ENOENT:
      return "Check the path";
    case EACCES:
    case EPERM:
      return "Ask for permission to read it";
    default:
      return "Check the file and its file system";
  }
}

std::int64_t file_size(const Descriptor& file, const std::string& path) {
  struct stat status = {};
  if (fstat(file.get(), &status) != 0) {
    throw read_error(path, errno);
  }
  CROSSBOW_VALIDATE(
      S_ISREG(status.st_mode),
      ExitCode::data,
      {.what = "cannot read " + path,
       .why = S_ISDIR(status.st_mode) ? "it is a folder" : "it is not a file",
       .where = "",
       .remedy = "Check the path"});
  return status.st_size;
}

// O_NONBLOCK: a named pipe in a file's place must not hang the program.
Descriptor open_regular(const std::string& path) {
  Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) {
    throw read_error(path, errno);
  }
  file_size(file, path);
  return file;
}

std::string free_bytes_text(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  std::error_code failed;
  const fs::space_info space = fs::space(folder.empty() ? "." : folder, failed);
  return failed ? "" : ", " + std::to_string(space.available) + " free";
}

}  // namespace

std::string errno_text(int error_number) {
  return std::generic_category().message(error_number);
}

Error read_error(const std::string& path, int error_number) {
  return {ExitCode::data,
          ErrorText{.what = "cannot read " + path,
                    .why = errno_text(error_number),
                    .where = "",
                    .remedy = remedy_for(error_number)}};
}

Error write_error(const std::string& path, const std::string& why, std::int64_t bytes) {
  return {
      ExitCode::data,
      ErrorText{.what = "cannot write " + path,
                .why = why,
                .where = std::to_string(bytes) + " bytes needed" + free_bytes_text(path),
                .remedy = "Make room or check the folder and its permissions; a file of "
                          "that name is as it was"}};
}

void check_readable(const std::string& path) {
  open_regular(path);
}

std::vector<std::uint8_t> read_file(const std::string& path) {
  const Descriptor file = open_regular(path);
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(file_size(file, path)));
  std::size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t got = read(file.get(), bytes.data() + have, bytes.size() - have);
    if (got < 0 && errno != EINTR) {
      throw read_error(path, errno);
    }
    if (got == 0) {
      break;  // it shrank meanwhile; what is missing is the caller's to find
    }
    have += got > 0 ? static_cast<std::size_t>(got) : 0;
  }
  bytes.resize(have);
  return bytes;
}

int write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = write(descriptor, bytes.data(), bytes.size());
    if (put < 0 && errno != EINTR) {
      return errno;
    }
    bytes.remove_prefix(put > 0 ? static_cast<std::size_t>(put) : 0);
  }
  return 0;
}

}  // namespace crossbow
