#include "base/sha256.h"

#include <string>

#include <gtest/gtest.h>

#include "base/hex.h"

namespace varve {
namespace {

// source: FIPS 180-2 appendix B, and NIST's vector for one million times "a".
TEST(Sha256, PublishedVectors) {
  EXPECT_EQ(to_hex(sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(to_hex(sha256("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(to_hex(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(to_hex(sha256(std::string(1000000, 'a'))),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, TwoPartsCountAsOneText) {
  const std::string text =
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq and more of it";
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    EXPECT_EQ(sha256(text.substr(0, cut), text.substr(cut)), sha256(text)) << cut;
  }
}

}  // namespace
}  // namespace varve
