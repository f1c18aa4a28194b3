// H5File's attributes of the root.

#include <cstring>

#include "base/error.hpp"

#include "io/h5_handle.hpp"
#include "io/h5_internal.hpp"

namespace crossbow {
namespace {

// HDF5's variable-length texts lie in a heap without checksum; the library was seen to
// read a damaged one for ever. Texts of fixed length lie in the attribute, which has one.
H5Handle fixed_text(std::size_t size) {
  H5Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type.id(), std::max<std::size_t>(size, 1));
  H5Tset_strpad(type.id(), H5T_STR_NULLPAD);
  H5Tset_cset(type.id(), H5T_CSET_UTF8);
  return type;
}

H5Handle variable_text(H5T_cset_t characters) {
  H5Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type.id(), H5T_VARIABLE);
  H5Tset_cset(type.id(), characters);
  return type;
}

// Texts come back up to their first zero byte: one with such a byte would come back cut.
void check_text(const std::string& text, const std::string& attribute) {
  CROSSBOW_VALIDATE(
      text.find('\0') == std::string::npos,
      ExitCode::internal_error,
      {.what = "the text of the attribute '" + attribute + "' has a zero byte",
       .why = "",
       .where = "",
       .remedy = ""});
}

std::int64_t attribute_count(const H5Handle& attribute) {
  const H5Handle space(H5Aget_space(attribute.id()), H5Sclose);
  return H5Sget_simple_extent_npoints(space.id());
}

// Return false if HDF5 cannot read them.
bool read_variable_texts(const H5Handle& attribute,
                         const H5Handle& stored,
                         std::vector<std::string>& texts) {
  const H5Handle type = variable_text(H5Tget_cset(stored.id()));
  const H5Handle space(H5Aget_space(attribute.id()), H5Sclose);
  std::vector<char*> pointers(texts.size(), nullptr);
  if (H5Aread(attribute.id(), type.id(), pointers.data()) < 0) {
    return false;
  }
  for (std::size_t i = 0; i < texts.size(); ++i) {
    texts[i] = pointers[i] == nullptr ? "" : pointers[i];
  }
  return H5Dvlen_reclaim(type.id(), space.id(), H5P_DEFAULT, pointers.data()) >= 0;
}

bool read_fixed_texts(const H5Handle& attribute,
                      const H5Handle& stored,
                      std::vector<std::string>& texts) {
  const std::size_t size = H5Tget_size(stored.id());
  std::vector<char> bytes(size * texts.size());
  if (H5Aread(attribute.id(), stored.id(), bytes.data()) < 0) {
    return false;
  }
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const char* begin = bytes.data() + i * size;
    texts[i].assign(begin, strnlen(begin, size));
  }
  return true;
}

herr_t collect(hid_t, const char* name, const H5A_info_t*, void* names) {
  static_cast<std::vector<std::string>*>(names)->emplace_back(name);
  return 0;
}

}  // namespace

void H5File::write_attribute(const std::string& attribute,
                             const H5WriteTypes& types,
                             const H5Shape& shape,
                             const void* values) {
  const H5Handle space = h5::make_space(shape);
  const H5Handle handle(H5Acreate2(file_.id(),
                                   attribute.c_str(),
                                   types.file,
                                   space.id(),
                                   H5P_DEFAULT,
                                   H5P_DEFAULT),
                        H5Aclose);
  if (!handle.valid() || H5Awrite(handle.id(), types.memory, values) < 0) {
    fail_writing();
  }
}

void H5File::write_text(const std::string& attribute, const std::string& value) {
  const h5::Lock lock = h5::lock();
  check_text(value, attribute);
  const H5Handle type = fixed_text(value.size());
  write_attribute(attribute, {type.id(), type.id()}, {}, value.c_str());
}

void H5File::write_texts(const std::string& attribute,
                         const std::vector<std::string>& values) {
  const h5::Lock lock = h5::lock();
  std::size_t longest = 1;
  for (const std::string& value : values) {
    check_text(value, attribute);
    longest = std::max(longest, value.size());
  }
  std::string all;
  for (const std::string& value : values) {
    all += value + std::string(longest - value.size(), '\0');
  }
  const H5Handle type = fixed_text(longest);
  const H5Shape shape{static_cast<std::int64_t>(values.size())};
  write_attribute(attribute, {type.id(), type.id()}, shape, all.data());
}

void H5File::write_integer(const std::string& attribute, std::int64_t value) {
  const h5::Lock lock = h5::lock();
  write_attribute(attribute, {H5T_STD_I64LE, H5T_NATIVE_INT64}, {}, &value);
}

void H5File::write_number(const std::string& attribute, double value) {
  const h5::Lock lock = h5::lock();
  write_attribute(attribute, {H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE}, {}, &value);
}

std::vector<std::string> H5File::attribute_names() const {
  const h5::Lock lock = h5::lock();
  std::vector<std::string> names;
  hsize_t position = 0;
  if (H5Aiterate2(file_.id(), H5_INDEX_NAME, H5_ITER_NATIVE, &position, collect, &names) <
      0) {
    fail_reading("the attributes");
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool H5File::has_attribute(const std::string& attribute) const {
  const h5::Lock lock = h5::lock();
  return H5Aexists(file_.id(), attribute.c_str()) > 0;
}

bool H5File::has_variable_texts() const {
  const std::vector<std::string> names = attribute_names();
  return std::any_of(names.begin(), names.end(), [this](const std::string& name) {
    const H5Handle handle = open_attribute(name);
    const H5Handle type(H5Aget_type(handle.id()), H5Tclose);
    return H5Tis_variable_str(type.id()) > 0;
  });
}

H5Handle H5File::open_attribute(const std::string& attribute) const {
  CROSSBOW_VALIDATE(has_attribute(attribute),
                    ExitCode::data,
                    {.what = "the attribute '" + attribute + "' is missing",
                     .why = "",
                     .where = path_,
                     .remedy = "The file is of another kind or incomplete"});
  H5Handle handle(H5Aopen(file_.id(), attribute.c_str(), H5P_DEFAULT), H5Aclose);
  if (!handle.valid()) {
    fail_reading("the attribute '" + attribute + "'");
  }
  return handle;
}

H5Kind H5File::attribute_kind(const std::string& attribute) const {
  const h5::Lock lock = h5::lock();
  const H5Handle handle = open_attribute(attribute);
  const H5Handle type(H5Aget_type(handle.id()), H5Tclose);
  switch (H5Tget_class(type.id())) {
    case H5T_INTEGER:
    case H5T_ENUM:  // h5py's true and false
      return H5Kind::integer;
    case H5T_FLOAT:
      return H5Kind::number;
    case H5T_STRING:
      return H5Kind::text;
    default:
      return H5Kind::other;
  }
}

void H5File::check_attribute(const std::string& attribute,
                             bool right_kind,
                             const std::string& wanted) const {
  CROSSBOW_VALIDATE(right_kind,
                    ExitCode::data,
                    {.what = "the attribute '" + attribute + "' is not " + wanted,
                     .why = "",
                     .where = path_,
                     .remedy = "The file is of another kind or damaged"});
}

std::vector<std::string> H5File::read_texts(const std::string& attribute) const {
  const h5::Lock lock = h5::lock();
  check_attribute(attribute, attribute_kind(attribute) == H5Kind::text, "a text");
  const H5Handle handle = open_attribute(attribute);
  const H5Handle stored(H5Aget_type(handle.id()), H5Tclose);
  const std::int64_t count = attribute_count(handle);
  check_attribute(attribute, count >= 0, "a text");
  std::vector<std::string> texts(static_cast<std::size_t>(count));
  const bool done = H5Tis_variable_str(stored.id()) > 0
                        ? read_variable_texts(handle, stored, texts)
                        : read_fixed_texts(handle, stored, texts);
  if (!done) {
    fail_reading("the attribute '" + attribute + "'");
  }
  return texts;
}

std::string H5File::read_text(const std::string& attribute) const {
  const std::vector<std::string> texts = read_texts(attribute);
  check_attribute(attribute, texts.size() == 1, "one text");
  return texts[0];
}

std::int64_t H5File::read_integer(const std::string& attribute) const {
  const h5::Lock lock = h5::lock();
  const bool right_kind = attribute_kind(attribute) == H5Kind::integer;
  check_attribute(attribute, right_kind, "an integer");
  const H5Handle handle = open_attribute(attribute);
  check_attribute(attribute, attribute_count(handle) == 1, "one integer");
  std::int64_t value = 0;
  if (H5Aread(handle.id(), H5T_NATIVE_INT64, &value) < 0) {
    fail_reading("the attribute '" + attribute + "'");
  }
  return value;
}

std::vector<double> H5File::read_numbers(const std::string& attribute) const {
  const h5::Lock lock = h5::lock();
  const H5Kind kind = attribute_kind(attribute);
  const bool right_kind = kind == H5Kind::number || kind == H5Kind::integer;
  check_attribute(attribute, right_kind, "a number");
  const H5Handle handle = open_attribute(attribute);
  const std::int64_t count = attribute_count(handle);
  check_attribute(attribute, count >= 0, "a number");
  std::vector<double> values(static_cast<std::size_t>(count));
  if (H5Aread(handle.id(), H5T_NATIVE_DOUBLE, values.data()) < 0) {
    fail_reading("the attribute '" + attribute + "'");
  }
  return values;
}

double H5File::read_number(const std::string& attribute) const {
  const std::vector<double> values = read_numbers(attribute);
  check_attribute(attribute, values.size() == 1, "one number");
  return values[0];
}

}  // namespace crossbow
