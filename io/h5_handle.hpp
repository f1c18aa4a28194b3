#pragma once
// HDF5 files behind one class. Every call of the HDF5 library in the program is made
// here, under one process-wide lock (a site's library is often not thread-safe), with its
// own error print switched off: what fails becomes one sentence with the path and the
// system's reason. Handles close themselves.
//
// Format of what we write: HDF5 1.10's, whose structures carry checksums of their own;
// texts are UTF-8 of fixed length, data sets little-endian. Nothing but this file's .cpp
// includes hdf5.h.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "io/atomic_file.hpp"

namespace crossbow {

/// Sizes of an array, slowest dimension first; empty: one value.
using H5Shape = std::vector<std::int64_t>;

/// Return the number of elements of `shape`, 1 for an empty one; throw Error(data) naming
/// `where` if it is negative in one dimension or does not fit in 63 bits.
std::int64_t h5_element_count(const H5Shape& shape, const std::string& where);

/// Return "60000x28x28x1".
std::string to_string(const H5Shape& shape);

/// Owns one HDF5 identifier of any kind.
class H5Handle {
 public:
  using Closer = int (*)(std::int64_t);

  H5Handle() = default;
  H5Handle(std::int64_t id, Closer closer) : id_(id), closer_(closer) {}
  ~H5Handle() { reset(); }
  H5Handle(H5Handle&& other) noexcept
      : id_(std::exchange(other.id_, -1)), closer_(other.closer_) {}
  H5Handle& operator=(H5Handle&& other) noexcept;
  H5Handle(const H5Handle&) = delete;
  H5Handle& operator=(const H5Handle&) = delete;

  std::int64_t id() const { return id_; }
  bool valid() const { return id_ >= 0; }
  /// Close now; return false if HDF5 could not (unwritten data, for a file).
  bool reset() noexcept;

 private:
  std::int64_t id_ = -1;
  Closer closer_ = nullptr;
};

/// What an attribute holds.
enum class H5Kind { integer, number, text, other };

/// Identifiers of the HDF5 types in the file and in memory.
struct H5WriteTypes {
  std::int64_t file = -1;
  std::int64_t memory = -1;
};

/// How a data set is stored.
struct H5Storage {
  std::int64_t chunk_bytes =
      4 << 20;           // a chunk is at most so large, but at least one row [bytes]
  bool checksum = true;  // fletcher32 on every chunk
};

/// One open HDF5 file. Every function throws Error(data) with the path and what HDF5 or
/// the system says. Element types T: std::uint8_t, std::int32_t, std::int64_t, float,
/// double.
class H5File {
 public:
  /// Open for reading, without a file lock (network file systems often have none).
  static H5File open(const std::string& path);
  /// Create the temporary file of `target` for writing; its own name is given by
  /// `target.commit()` after `close()`.
  static H5File create(const AtomicFile& target);

  /// Write what is buffered and close; only then is everything known to be written.
  void close();
  /// Return the path for messages.
  const std::string& path() const { return path_; }

  // Attributes of the root.
  void write_text(const std::string& attribute, const std::string& value);
  void write_texts(const std::string& attribute, const std::vector<std::string>& values);
  void write_integer(const std::string& attribute, std::int64_t value);
  void write_number(const std::string& attribute, double value);

  /// Return the names of all attributes, sorted.
  std::vector<std::string> attribute_names() const;
  bool has_attribute(const std::string& attribute) const;
  H5Kind attribute_kind(const std::string& attribute) const;
  std::string read_text(const std::string& attribute) const;
  /// Return all texts of an array attribute.
  std::vector<std::string> read_texts(const std::string& attribute) const;
  /// Return an integer or true/false attribute.
  std::int64_t read_integer(const std::string& attribute) const;
  double read_number(const std::string& attribute) const;
  /// Return all numbers of an array attribute.
  std::vector<double> read_numbers(const std::string& attribute) const;

  // Data sets; groups in a path "a/b" are made as needed.
  template <class T>
  void write(const std::string& data_set,
             const H5Shape& shape,
             const T* values,
             const H5Storage& storage = {});

  /// Return the paths of all data sets at any depth, sorted, without the leading "/".
  std::vector<std::string> data_set_names() const;
  bool has_data_set(const std::string& data_set) const;
  H5Shape shape(const std::string& data_set) const;
  /// Return the elements in row-major order; the stored type must be T's (any byte
  /// order).
  template <class T>
  std::vector<T> read(const std::string& data_set) const;
  /// Return the elements of any integer type, in row-major order.
  std::vector<std::int64_t> read_integers(const std::string& data_set) const;

 private:
  H5File(std::string path, std::int64_t bytes) : path_(std::move(path)), bytes_(bytes) {}

  /// Throw Error(data) where the library crashes on the file or reads it for ever.
  void check_by_trial() const;
  /// Whether an attribute is a text of variable length, which no checksum covers.
  bool has_variable_texts() const;
  H5Handle open_attribute(const std::string& attribute) const;
  H5Handle open_data_set(const std::string& data_set) const;
  void check_type(bool right_type,
                  const std::string& data_set,
                  const std::string& stored,
                  const std::string& wanted) const;
  template <class T>
  std::vector<T> read_elements(const H5Handle& handle, const std::string& data_set) const;
  void write_attribute(const std::string& attribute,
                       const H5WriteTypes& types,
                       const H5Shape& shape,
                       const void* values);
  void check_attribute(const std::string& attribute,
                       bool right_kind,
                       const std::string& wanted) const;
  [[noreturn]] void fail_reading(const std::string& what) const;
  [[noreturn]] void fail_writing() const;

  H5Handle file_;
  std::string path_;
  std::int64_t bytes_;  // expected size of a file being written [bytes]
};

}  // namespace crossbow
