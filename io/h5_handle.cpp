#include "io/h5_handle.hpp"

#include <limits>
#include <string_view>

#include "base/error.hpp"

#include "io/file_bytes.hpp"
#include "io/h5_internal.hpp"
#include "io/h5_trial.hpp"

namespace crossbow {
namespace {

herr_t keep_innermost(unsigned int n, const H5E_error2_t* entry, void* text) {
  if (n == 0 && entry->desc != nullptr) {
    *static_cast<std::string*>(text) = entry->desc;
  }
  return 0;
}

H5Handle file_access() {
  H5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_libver_bounds(access.id(), H5F_LIBVER_V110, H5F_LIBVER_LATEST);
  H5Pset_fclose_degree(access.id(), H5F_CLOSE_STRONG);
#if H5_VERSION_GE(1, 10, 7)
  H5Pset_file_locking(access.id(), false, true);
#endif
  return access;
}

bool& is_alone() {
  static bool alone = false;  // a child process's own copy is set
  return alone;
}

}  // namespace

namespace h5 {

void be_alone() {
  is_alone() = true;
}

// The library's error stack, and with it the switch for its own print, belongs to the
// thread.
Lock lock() {
  static std::recursive_mutex mutex;
  Lock held(mutex, std::defer_lock);
  if (!is_alone()) {
    held.lock();
  }
  // Every file is closed by its handle. HDF5's own closing at exit would once more try to
  // write what a full disk has refused.
  [[maybe_unused]] static const herr_t no_exit_handler = H5dont_atexit();
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  return held;
}

// Return the reason of the last failure: the system's text if there is one, else HDF5's
// own.
std::string last_reason() {
  std::string text;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_innermost, &text);
  constexpr std::string_view mark = "error message = '";
  const std::size_t begin = text.find(mark);
  if (begin != std::string::npos) {
    const std::size_t from = begin + mark.size();
    const std::string reason = text.substr(from, text.find('\'', from) - from);
    return text.find("lock") != std::string::npos ? reason + " while locking it" : reason;
  }
  return text.empty() ? "the HDF5 library gives no reason" : text;
}

H5Handle make_space(const H5Shape& shape) {
  const std::vector<hsize_t> extents(shape.begin(), shape.end());
  const int rank = static_cast<int>(extents.size());
  return rank == 0 ? H5Handle(H5Screate(H5S_SCALAR), H5Sclose)
                   : H5Handle(H5Screate_simple(rank, extents.data(), nullptr), H5Sclose);
}

H5Shape to_shape(hid_t space) {
  const int rank = std::max(H5Sget_simple_extent_ndims(space), 0);
  std::vector<hsize_t> extents(static_cast<std::size_t>(rank));
  H5Sget_simple_extent_dims(space, extents.data(), nullptr);
  return {extents.begin(), extents.end()};
}

}  // namespace h5

std::int64_t h5_element_count(const H5Shape& shape, const std::string& where) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) {
    const bool fits =
        extent >= 0 &&
        (extent == 0 || count <= std::numeric_limits<std::int64_t>::max() / extent);
    CROSSBOW_VALIDATE(
        fits,
        ExitCode::data,
        {.what = "an array of shape " + to_string(shape) + " is not possible",
         .why = "",
         .where = where,
         .remedy = ""});
    count *= extent;
  }
  return count;
}

std::string to_string(const H5Shape& shape) {
  std::string text;
  for (const std::int64_t extent : shape) {
    text += (text.empty() ? "" : "x") + std::to_string(extent);
  }
  return text.empty() ? "one value" : text;
}

H5Handle& H5Handle::operator=(H5Handle&& other) noexcept {
  if (this != &other) {
    reset();
    id_ = std::exchange(other.id_, -1);
    closer_ = other.closer_;
  }
  return *this;
}

bool H5Handle::reset() noexcept {
  if (id_ < 0) {
    return true;
  }
  const h5::Lock lock = h5::lock();
  return closer_(std::exchange(id_, -1)) >= 0;
}

H5File H5File::open(const std::string& path) {
  const h5::Lock lock = h5::lock();
  check_readable(path);
  H5File file(path, 0);
  const htri_t is_hdf5 = H5Fis_hdf5(path.c_str());
  if (is_hdf5 < 0) {
    file.fail_reading("it");
  }
  CROSSBOW_VALIDATE(is_hdf5 > 0,
                    ExitCode::data,
                    {.what = path + " is not an HDF5 file",
                     .why = "it does not begin like one",
                     .where = "",
                     .remedy = "Give an .h5 file written by crossbow"});
  const bool has_checksums = h5::has_checksums(path);
  if (!has_checksums) {
    file.check_by_trial();
  }
  const H5Handle access = file_access();
  file.file_ = H5Handle(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.id()), H5Fclose);
  if (!file.file_.valid()) {
    file.fail_reading("it");
  }
  if (has_checksums && file.has_variable_texts()) {
    file.check_by_trial();
  }
  return file;
}

void H5File::check_by_trial() const {
  const std::string fault = is_alone() ? "" : h5::trial_fault(path_);
  CROSSBOW_VALIDATE(fault.empty(),
                    ExitCode::data,
                    {.what = "the HDF5 file " + path_ + " is damaged",
                     .why = fault,
                     .where = "",
                     .remedy = "Take another copy"});
}

H5File H5File::create(const AtomicFile& target) {
  const h5::Lock lock = h5::lock();
  H5File file(target.path(), target.bytes());
  const H5Handle access = file_access();
  file.file_ = H5Handle(
      H5Fcreate(target.temporary().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.id()),
      H5Fclose);
  if (!file.file_.valid()) {
    file.fail_writing();
  }
  return file;
}

void H5File::close() {
  const h5::Lock lock = h5::lock();
  if (!file_.reset()) {
    fail_writing();
  }
}

void H5File::fail_reading(const std::string& what) const {
  const std::string reason = h5::last_reason();
  const bool locking = reason.find("locking") != std::string::npos;
  throw Error(
      ExitCode::data,
      ErrorText{.what = "cannot read " + what + " from the HDF5 file " + path_,
                .why = reason,
                .where = "",
                .remedy = locking ? "Set HDF5_USE_FILE_LOCKING=FALSE"
                                  : "The file is damaged or incomplete, or its file "
                                    "system fails; take another copy"});
}

void H5File::fail_writing() const {
  throw write_error(path_, h5::last_reason(), bytes_);
}

}  // namespace crossbow
