// H5File's data sets.

#include <cstdint>
#include <limits>
#include <new>
#include <stdexcept>

#include "base/error.hpp"

#include "io/h5_handle.hpp"
#include "io/h5_internal.hpp"

namespace crossbow {
namespace {

template <class T>
struct Types;
template <>
struct Types<std::uint8_t> {
  static hid_t memory() { return H5T_NATIVE_UINT8; }
  static hid_t file() { return H5T_STD_U8LE; }
};
template <>
struct Types<std::int32_t> {
  static hid_t memory() { return H5T_NATIVE_INT32; }
  static hid_t file() { return H5T_STD_I32LE; }
};
template <>
struct Types<std::int64_t> {
  static hid_t memory() { return H5T_NATIVE_INT64; }
  static hid_t file() { return H5T_STD_I64LE; }
};
template <>
struct Types<float> {
  static hid_t memory() { return H5T_NATIVE_FLOAT; }
  static hid_t file() { return H5T_IEEE_F32LE; }
};
template <>
struct Types<double> {
  static hid_t memory() { return H5T_NATIVE_DOUBLE; }
  static hid_t file() { return H5T_IEEE_F64LE; }
};

// Same kind and size; the byte order may differ.
bool same_kind(hid_t a, hid_t b) {
  const H5T_class_t kind = H5Tget_class(a);
  return kind == H5Tget_class(b) && H5Tget_size(a) == H5Tget_size(b) &&
         (kind != H5T_INTEGER || H5Tget_sign(a) == H5Tget_sign(b));
}

std::string type_name(hid_t type) {
  const std::string bits = std::to_string(8 * H5Tget_size(type));
  switch (H5Tget_class(type)) {
    case H5T_INTEGER:
      return (H5Tget_sign(type) == H5T_SGN_NONE ? "uint" : "int") + bits;
    case H5T_FLOAT:
      return "float" + bits;
    case H5T_STRING:
      return "text";
    default:
      return "another type";
  }
}

std::vector<hsize_t> to_extents(const H5Shape& shape) {
  return {shape.begin(), shape.end()};
}

// Cut the slowest dimensions until a chunk has at most `limit` bytes.
H5Shape chunk_shape(const H5Shape& shape,
                    std::int64_t element_bytes,
                    std::int64_t limit) {
  H5Shape chunk = shape;
  for (std::size_t d = 0; d < chunk.size(); ++d) {
    std::int64_t row = element_bytes;
    for (std::size_t i = d + 1; i < chunk.size(); ++i) {
      row *= chunk[i];
    }
    chunk[d] = std::clamp<std::int64_t>(limit / row, 1, chunk[d]);
    if (chunk[d] > 1) {
      break;
    }
  }
  return chunk;
}

H5Handle storage_properties(const H5Shape& shape,
                            std::int64_t element_bytes,
                            const H5Storage& storage) {
  H5Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  const bool empty = std::find(shape.begin(), shape.end(), 0) != shape.end();
  if (shape.empty() || empty) {
    return properties;  // HDF5 has no chunks, hence no checksums, for these
  }
  const std::vector<hsize_t> chunk =
      to_extents(chunk_shape(shape, element_bytes, storage.chunk_bytes));
  H5Pset_chunk(properties.id(), static_cast<int>(chunk.size()), chunk.data());
  H5Pset_fill_time(properties.id(), H5D_FILL_TIME_NEVER);
  if (storage.checksum) {
    H5Pset_fletcher32(properties.id());
  }
  return properties;
}

herr_t collect_data_set(hid_t group,
                        const char* name,
                        const H5L_info_t* link,
                        void* names) {
  if (link->type != H5L_TYPE_HARD) {
    return 0;
  }
  const H5Handle object(H5Oopen(group, name, H5P_DEFAULT), H5Oclose);
  if (!object.valid()) {
    return -1;
  }
  if (H5Iget_type(object.id()) == H5I_DATASET) {
    static_cast<std::vector<std::string>*>(names)->emplace_back(name);
  }
  return 0;
}

// Whether what is stored may be `bytes` in memory: all that is stored lies in the file,
// and no filter in use makes it more than 1032 times smaller (zlib's most).
bool is_in_proportion(hid_t data_set, hid_t file, std::uint64_t bytes) {
  const H5Handle properties(H5Dget_create_plist(data_set), H5Pclose);
  const bool is_plain = properties.valid() && H5Pget_nfilters(properties.id()) == 0;
  const std::uint64_t stored = H5Dget_storage_size(data_set);
  hsize_t file_size = 0;
  return H5Fget_filesize(file, &file_size) >= 0 && stored <= file_size &&
         bytes / (is_plain ? 1 : 1032) <= stored;
}

// A damaged shape can ask for more than the machine has.
template <class T>
std::vector<T> make_vector(std::int64_t count, const std::string& where) {
  try {
    return std::vector<T>(static_cast<std::size_t>(count));
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {
  }
  throw Error(ExitCode::data,
              ErrorText{.what = "there is no memory for " + std::to_string(count) +
                                " values of " + std::to_string(sizeof(T)) + " bytes",
                        .why = "",
                        .where = where,
                        .remedy = "Check the file's shape or use a larger machine"});
}

}  // namespace

template <class T>
void H5File::write(const std::string& data_set,
                   const H5Shape& shape,
                   const T* values,
                   const H5Storage& storage) {
  const h5::Lock lock = h5::lock();
  const H5Handle space = h5::make_space(shape);
  const H5Handle links(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
  H5Pset_create_intermediate_group(links.id(), 1);
  const H5Handle properties = storage_properties(shape, sizeof(T), storage);
  H5Handle handle(H5Dcreate2(file_.id(),
                             data_set.c_str(),
                             Types<T>::file(),
                             space.id(),
                             links.id(),
                             properties.id(),
                             H5P_DEFAULT),
                  H5Dclose);
  const bool written =
      handle.valid() &&
      (h5_element_count(shape, path_) == 0 ||
       H5Dwrite(handle.id(), Types<T>::memory(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >=
           0);
  if (!written) {
    fail_writing();
  }
  if (!handle.reset()) {
    fail_writing();  // closing writes the last chunks
  }
}

std::vector<std::string> H5File::data_set_names() const {
  const h5::Lock lock = h5::lock();
  std::vector<std::string> names;
  if (H5Lvisit(file_.id(), H5_INDEX_NAME, H5_ITER_NATIVE, collect_data_set, &names) < 0) {
    fail_reading("the list of data sets");
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool H5File::has_data_set(const std::string& data_set) const {
  const h5::Lock lock = h5::lock();
  std::size_t end = 0;
  while (end !=
         std::string::npos) {  // H5Lexists fails where a group on the way is missing
    end = data_set.find('/', end + 1);
    if (H5Lexists(file_.id(), data_set.substr(0, end).c_str(), H5P_DEFAULT) <= 0) {
      return false;
    }
  }
  return true;
}

H5Handle H5File::open_data_set(const std::string& data_set) const {
  CROSSBOW_VALIDATE(has_data_set(data_set),
                    ExitCode::data,
                    {.what = "the data set '" + data_set + "' is missing",
                     .why = "",
                     .where = path_,
                     .remedy = "The file is of another kind or incomplete"});
  H5Handle handle(H5Dopen2(file_.id(), data_set.c_str(), H5P_DEFAULT), H5Dclose);
  if (!handle.valid()) {
    fail_reading("the data set '" + data_set + "'");
  }
  return handle;
}

H5Shape H5File::shape(const std::string& data_set) const {
  const h5::Lock lock = h5::lock();
  const H5Handle handle = open_data_set(data_set);
  const H5Handle space(H5Dget_space(handle.id()), H5Sclose);
  return h5::to_shape(space.id());
}

template <class T>
std::vector<T> H5File::read(const std::string& data_set) const {
  const h5::Lock lock = h5::lock();
  const H5Handle handle = open_data_set(data_set);
  const H5Handle stored(H5Dget_type(handle.id()), H5Tclose);
  check_type(same_kind(stored.id(), Types<T>::memory()),
             data_set,
             type_name(stored.id()),
             type_name(Types<T>::memory()));
  return read_elements<T>(handle, data_set);
}

std::vector<std::int64_t> H5File::read_integers(const std::string& data_set) const {
  const h5::Lock lock = h5::lock();
  const H5Handle handle = open_data_set(data_set);
  const H5Handle stored(H5Dget_type(handle.id()), H5Tclose);
  check_type(H5Tget_class(stored.id()) == H5T_INTEGER,
             data_set,
             type_name(stored.id()),
             "an integer type");
  return read_elements<std::int64_t>(handle, data_set);
}

void H5File::check_type(bool right_type,
                        const std::string& data_set,
                        const std::string& stored,
                        const std::string& wanted) const {
  CROSSBOW_VALIDATE(right_type,
                    ExitCode::data,
                    {.what = "the data set '" + data_set + "' holds " + stored +
                             " where " + wanted + " is needed",
                     .why = "",
                     .where = path_,
                     .remedy = "Convert it or write it again"});
}

template <class T>
std::vector<T> H5File::read_elements(const H5Handle& handle,
                                     const std::string& data_set) const {
  const H5Handle stored(H5Dget_type(handle.id()), H5Tclose);
  const auto width =
      static_cast<std::int64_t>(std::max(H5Tget_size(stored.id()), sizeof(T)));
  const std::int64_t count = h5_element_count(shape(data_set), path_ + ", " + data_set);
  const bool has_bytes = count == 0 || H5Dget_storage_size(handle.id()) > 0;
  CROSSBOW_VALIDATE(has_bytes,
                    ExitCode::data,
                    {.what = "the data set '" + data_set + "' has a shape but no values",
                     .why = "it was never written",
                     .where = path_,
                     .remedy = "Write the file again"});
  const bool fits =
      count <= std::numeric_limits<std::int64_t>::max() / width &&
      is_in_proportion(handle.id(), file_.id(), count * H5Tget_size(stored.id()));
  CROSSBOW_VALIDATE(
      fits,
      ExitCode::data,
      {.what = "the data set '" + data_set + "' has shape " + to_string(shape(data_set)) +
               ", but " + std::to_string(H5Dget_storage_size(handle.id())) +
               " bytes of values",
       .why = "",
       .where = path_,
       .remedy = "The file is damaged; take another copy"});
  std::vector<T> values = make_vector<T>(count, path_ + ", " + data_set);
  if (count > 0 &&
      H5Dread(
          handle.id(), Types<T>::memory(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) <
          0) {
    fail_reading("the data set '" + data_set + "'");
  }
  return values;
}

#define CROSSBOW_INSTANTIATE_H5(T)                                     \
  template void H5File::write<T>(                                      \
      const std::string&, const H5Shape&, const T*, const H5Storage&); \
  template std::vector<T> H5File::read<T>(const std::string&) const;
CROSSBOW_INSTANTIATE_H5(std::uint8_t)
CROSSBOW_INSTANTIATE_H5(std::int32_t)
CROSSBOW_INSTANTIATE_H5(std::int64_t)
CROSSBOW_INSTANTIATE_H5(float)
CROSSBOW_INSTANTIATE_H5(double)
#undef CROSSBOW_INSTANTIATE_H5

}  // namespace crossbow
