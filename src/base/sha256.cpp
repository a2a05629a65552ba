#include "base/sha256.h"

// The low-level calls: EVP looks its algorithm up at run time, which costs more than hashing a
// whole entry does.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>

namespace varve {

Sha256Digest sha256(std::string_view first, std::string_view second) noexcept {
  Sha256Digest digest;
  SHA256_CTX context;
  SHA256_Init(&context);
  SHA256_Update(&context, first.data(), first.size());
  SHA256_Update(&context, second.data(), second.size());
  SHA256_Final(digest.data(), &context);
  return digest;
}

std::string to_hex(const Sha256Digest& digest) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string hex(digest.size() * 2, '0');
  for (size_t i = 0; i < digest.size(); ++i) {
    hex[2 * i] = kDigits[digest[i] >> 4];
    hex[2 * i + 1] = kDigits[digest[i] & 15];
  }
  return hex;
}

}  // namespace varve
