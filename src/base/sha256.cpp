#include "base/sha256.h"

// Uses the low-level calls: EVP looks up its algorithm at run time, which costs more than hashing a
// whole entry.
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

}  // namespace varve
