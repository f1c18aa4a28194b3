#include "io/file_digest.hpp"

#include <array>
#include <new>

#include <openssl/evp.h>

#include "base/error.hpp"

#include "io/file_bytes.hpp"

namespace crossbow {

struct Sha256::State {
  State() : context(EVP_MD_CTX_new()) {
    if (context == nullptr) {
      throw std::bad_alloc();
    }
  }
  ~State() { EVP_MD_CTX_free(context); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  State(State&&) = delete;
  State& operator=(State&&) = delete;

  EVP_MD_CTX* context;
};

namespace {

void require(int result) {
  CROSSBOW_VALIDATE(result == 1,
                    ExitCode::internal_error,
                    {.what = "SHA-256 cannot be computed",
                     .why = "OpenSSL refuses it",
                     .where = "",
                     .remedy = "Check this machine's OpenSSL configuration"});
}

}  // namespace

Sha256::Sha256() : state_(std::make_unique<State>()) {
  require(EVP_DigestInit_ex(state_->context, EVP_sha256(), nullptr));
}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::update(const void* data, std::size_t size) {
  require(EVP_DigestUpdate(state_->context, data, size));
}

std::string Sha256::hex() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  require(EVP_DigestFinal_ex(state_->context, digest.data(), &size));
  std::string text;
  for (unsigned int i = 0; i < size; ++i) {
    constexpr std::string_view digits = "0123456789abcdef";
    text += digits[digest[i] >> 4U];
    text += digits[digest[i] & 15U];
  }
  return text;
}

std::string sha256_hex(const std::vector<std::uint8_t>& bytes) {
  Sha256 sha;
  sha.update(bytes.data(), bytes.size());
  return sha.hex();
}

std::string sha256_hex(std::string_view bytes) {
  Sha256 sha;
  sha.update(bytes);
  return sha.hex();
}

std::string sha256_of_files(const std::vector<std::string>& paths) {
  Sha256 sha;
  for (const std::string& path : paths) {
    const std::vector<std::uint8_t> bytes = read_file(path);
    sha.update(bytes.data(), bytes.size());
  }
  return sha.hex();
}

}  // namespace crossbow
