#include "io/npy_array.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

#include "base/error.hpp"

#include "io/h5_handle.hpp"

namespace crossbow {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t most_header_bytes = 10000;  // numpy's own limit
constexpr std::size_t header_alignment = 64;      // of the elements in a file

struct NpyHeader {
  std::string type;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
  std::size_t bytes = 0;  // where the elements begin
};

[[noreturn]] void fail(const std::string& what,
                       const std::string& why,
                       const std::string& where,
                       const std::string& remedy = "Save it again with numpy.savez") {
  throw Error(ExitCode::data,
              ErrorText{.what = what, .why = why, .where = where, .remedy = remedy});
}

// Reads the Python literal in a header: {'descr': '<f4', 'fortran_order': False, 'shape':
// (3, 4), }, the keys in any order.
class HeaderLiteral {
 public:
  HeaderLiteral(std::string_view text, std::string where)
      : rest_(text), where_(std::move(where)) {}

  NpyHeader read() {
    NpyHeader header;
    bool has_type = false;
    bool has_order = false;
    bool has_shape = false;
    expect('{');
    while (!take('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr" && !std::exchange(has_type, true)) {
        header.type = quoted();
      } else if (key == "fortran_order" && !std::exchange(has_order, true)) {
        header.fortran_order = truth();
      } else if (key == "shape" && !std::exchange(has_shape, true)) {
        header.shape = integers();
      } else {
        complain("the key " + key + " is unknown or there twice");
      }
      if (!take(',')) {
        expect('}');
        break;
      }
    }
    skip_space();
    if (!rest_.empty() || !has_type || !has_order || !has_shape) {
      complain("it must have descr, fortran_order and shape, and nothing else");
    }
    return header;
  }

 private:
  [[noreturn]] void complain(const std::string& why) const {
    fail("the header of the array cannot be read", why, where_);
  }
  void skip_space() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \n"), rest_.size()));
  }
  bool take(std::string_view word) {
    skip_space();
    const bool is_next = rest_.starts_with(word);
    rest_.remove_prefix(is_next ? word.size() : 0);
    return is_next;
  }
  bool take(char letter) { return take(std::string_view(&letter, 1)); }
  void expect(char letter) {
    if (!take(letter)) {
      complain("there is no " + std::string(1, letter) + " before '" +
               std::string(rest_.substr(0, 20)) + "'");
    }
  }
  std::string quoted() {
    expect('\'');
    const std::size_t end = std::min(rest_.find('\''), rest_.size());
    std::string text(rest_.substr(0, end));
    rest_.remove_prefix(end);
    expect('\'');
    return text;
  }
  bool truth() {
    const bool is_true = take("True");
    if (!is_true && !take("False")) {
      complain("fortran_order is neither True nor False");
    }
    return is_true;
  }
  std::vector<std::int64_t> integers() {
    std::vector<std::int64_t> values;
    expect('(');
    while (!take(')')) {
      skip_space();
      std::int64_t value = -1;
      const auto [end, error] =
          std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
      if (error != std::errc() || value < 0) {
        complain("its shape has no size before '" + std::string(rest_.substr(0, 20)) +
                 "'");
      }
      values.push_back(value);
      rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
      if (!take(',')) {
        expect(')');
        break;
      }
    }
    return values;
  }

  std::string_view rest_;
  std::string where_;
};

/// Bytes of an element of `type`, without byte order; none for a type that is not read.
std::optional<std::int64_t> bytes_per_element(const std::string& type) {
  constexpr std::int64_t most_letters = 1 << 20;
  constexpr std::int64_t bytes_per_letter = 4;
  for (const std::string_view known :
       {"b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"}) {
    if (type == known) {
      return known.back() - '0';
    }
  }
  std::int64_t letters = -1;
  const char* const end = type.data() + type.size();
  if (!type.starts_with('U') ||
      std::from_chars(type.data() + 1, end, letters).ptr != end || letters < 0 ||
      letters > most_letters) {
    return std::nullopt;
  }
  return letters * bytes_per_letter;
}

/// The type without the letter of its byte order.
std::string readable_type(const std::string& type, const std::string& where) {
  constexpr std::string_view orders = "<|>=";
  const bool has_order = !type.empty() && orders.find(type[0]) != std::string_view::npos;
  std::string bare = type.substr(has_order ? 1 : 0);
  if (!bytes_per_element(bare) || type.starts_with('>')) {
    fail("the type " + type + " of an array is not read",
         "it must be a little-endian number of 1, 2, 4 or 8 bytes, float32 or float64",
         where,
         "Convert it in Python, e.g. array.astype('<f4')");
  }
  return bare;
}

std::uint64_t little_endian(const std::vector<std::uint8_t>& file,
                            std::size_t offset,
                            std::size_t bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes; i > 0; --i) {
    value = value << 8U | file[offset + i - 1];
  }
  return value;
}

NpyHeader read_header(const std::vector<std::uint8_t>& file, const std::string& where) {
  const std::size_t fixed = magic.size() + 2;
  if (file.size() < fixed ||
      !std::equal(magic.begin(), magic.end(), file.begin(), [](char a, std::uint8_t b) {
        return static_cast<std::uint8_t>(a) == b;
      })) {
    fail("the array is not in numpy's .npy form",
         "its first bytes are not \\x93NUMPY",
         where);
  }
  const int version = file[magic.size()];
  if (version < 1 || version > 3) {
    fail("version " + std::to_string(version) + " of the .npy form is unknown",
         "1 to 3 are read",
         where);
  }
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  const std::size_t begin = fixed + length_bytes;
  const std::size_t length =
      file.size() < begin ? 0 : little_endian(file, fixed, length_bytes);
  if (length > most_header_bytes || file.size() < begin + length || length == 0) {
    fail("the header of the array cannot be read",
         "it has " + std::to_string(length) + " bytes of " + std::to_string(file.size()),
         where);
  }
  const std::string text(file.begin() + static_cast<std::ptrdiff_t>(begin),
                         file.begin() + static_cast<std::ptrdiff_t>(begin + length));
  NpyHeader header = HeaderLiteral(text, where).read();
  header.type = readable_type(header.type, where);
  header.bytes = begin + length;
  return header;
}

/// Elements in Fortran order (the first dimension is the fastest) in C order.
std::vector<std::uint8_t> in_c_order(const std::vector<std::uint8_t>& bytes,
                                     const std::vector<std::int64_t>& shape,
                                     std::size_t element) {
  std::vector<std::uint8_t> sorted(bytes.size());
  std::vector<std::int64_t> index(shape.size(), 0);
  for (std::size_t to = 0; to < bytes.size(); to += element) {
    std::int64_t from = 0;
    for (std::size_t d = shape.size(); d > 0; --d) {
      from = from * shape[d - 1] + index[d - 1];
    }
    std::memcpy(&sorted[to], &bytes[static_cast<std::size_t>(from) * element], element);
    for (std::size_t d = shape.size(); d > 0 && ++index[d - 1] == shape[d - 1]; --d) {
      index[d - 1] = 0;
    }
  }
  return sorted;
}

template <class Stored, class T>
std::vector<T> converted(const NpyArray& array, const std::string& where) {
  std::vector<T> values(array.bytes.size() / sizeof(Stored));
  for (std::size_t i = 0; i < values.size(); ++i) {
    Stored value;
    std::memcpy(&value, &array.bytes[i * sizeof(Stored)], sizeof(Stored));
    if constexpr (std::is_integral_v<T>) {
      if (!std::in_range<T>(value)) {
        fail("element " + std::to_string(i) + " of the array is " + std::to_string(value),
             "that is too large or too small",
             where,
             "Check where it comes from");
      }
    }
    // NOLINTNEXTLINE(bugprone-signed-char-misuse): of one byte or more, it is a number
    values[i] = static_cast<T>(value);
  }
  return values;
}

/// How elements of a numpy type become T.
template <class T>
struct Conversion {
  std::string_view type;
  std::vector<T> (*convert)(const NpyArray&, const std::string&);
};

template <class T>
constexpr std::array<Conversion<T>, 9> integer_conversions{
    {{"b1", converted<std::uint8_t, T>},
     {"u1", converted<std::uint8_t, T>},
     {"i1", converted<std::int8_t, T>},
     {"u2", converted<std::uint16_t, T>},
     {"i2", converted<std::int16_t, T>},
     {"u4", converted<std::uint32_t, T>},
     {"i4", converted<std::int32_t, T>},
     {"u8", converted<std::uint64_t, T>},
     {"i8", converted<std::int64_t, T>}}};

}  // namespace

NpyArray npy_floats(std::vector<std::int64_t> shape, std::span<const float> values) {
  const auto bytes = std::as_bytes(values);
  const auto* const first = reinterpret_cast<const std::uint8_t*>(bytes.data());
  return {"f4", std::move(shape), {first, first + bytes.size()}};
}

template <class T>
std::vector<T> npy_values(const NpyArray& array, const std::string& where) {
  const std::string& type = array.type;
  if constexpr (std::is_floating_point_v<T>) {
    if (type == "f4" || type == "f8") {
      return type == "f4" ? converted<float, T>(array, where)
                          : converted<double, T>(array, where);
    }
  }
  for (const Conversion<T>& conversion : integer_conversions<T>) {
    if (conversion.type == type) {
      return conversion.convert(array, where);
    }
  }
  fail("the array has elements of type " + type,
       std::is_integral_v<T> ? "they must be integers" : "they must be numbers",
       where,
       "Convert it in Python with array.astype");
}

template std::vector<float> npy_values(const NpyArray&, const std::string&);
template std::vector<double> npy_values(const NpyArray&, const std::string&);
template std::vector<std::int32_t> npy_values(const NpyArray&, const std::string&);
template std::vector<std::int64_t> npy_values(const NpyArray&, const std::string&);

NpyArray parse_npy(std::vector<std::uint8_t> file, const std::string& where) {
  const NpyHeader header = read_header(file, where);
  const std::int64_t element = bytes_per_element(header.type).value();
  H5Shape all = header.shape;
  all.push_back(element);
  const std::int64_t promised = h5_element_count(all, where);
  const std::size_t present = file.size() - header.bytes;
  if (static_cast<std::size_t>(promised) != present) {
    fail("the array has " + std::to_string(present) + " bytes of elements",
         "its header promises " + std::to_string(promised),
         where);
  }
  file.erase(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(header.bytes));
  if (header.fortran_order && header.shape.size() > 1) {
    file = in_c_order(file, header.shape, static_cast<std::size_t>(element));
  }
  return {header.type, header.shape, std::move(file)};
}

std::string npy_header(const NpyArray& array) {
  std::string shape;
  for (const std::int64_t size : array.shape) {
    shape += (shape.empty() ? "" : ", ") + std::to_string(size);
  }
  shape += array.shape.size() == 1 ? "," : "";  // else Python takes it for a number
  const bool is_byte = array.type == "u1" || array.type == "i1" || array.type == "b1";
  std::string text = std::string("{'descr': '") + (is_byte ? "|" : "<") + array.type +
                     "', 'fortran_order': False, 'shape': (" + shape + "), }";
  constexpr std::size_t before = 10;  // magic, version 1.0, length in two bytes
  const std::size_t total =
      (before + text.size() + header_alignment) / header_alignment * header_alignment;
  text.resize(total - before - 1, ' ');
  text += '\n';
  std::string header(magic);
  header += {'\1',
             '\0',
             static_cast<char>(text.size() & 0xffU),
             static_cast<char>(text.size() >> 8U)};
  return header + text;
}

}  // namespace crossbow
