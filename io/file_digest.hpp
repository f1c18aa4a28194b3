#pragma once
// SHA-256 of bytes and files (OpenSSL): the identity of a data set's source and the proof
// that a checkpoint is whole.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace crossbow {

/// Collect bytes and give their SHA-256.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  /// Add `size` [bytes] at `data`.
  void update(const void* data, std::size_t size);
  void update(std::string_view text) { update(text.data(), text.size()); }
  /// Add the bytes of a number as they lie in memory.
  template <class T>
  void update_value(T value) {
    static_assert(std::is_arithmetic_v<T>);
    update(&value, sizeof(value));
  }

  /// Return the digest as 64 lower-case hexadecimal digits; call once.
  std::string hex();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Return the SHA-256 of `bytes` as hexadecimal digits.
std::string sha256_hex(const std::vector<std::uint8_t>& bytes);
std::string sha256_hex(std::string_view bytes);

/// Return the SHA-256 of the files' bytes one after the other, as `cat FILES | sha256sum`
/// does. Throws Error(data) with path and reason if one cannot be read.
std::string sha256_of_files(const std::vector<std::string>& paths);

}  // namespace crossbow
