#include "io/file_digest.hpp"

#include <string>

#include <gtest/gtest.h>

#include "io/test_support.hpp"

namespace crossbow {
namespace {

using testing_support::expect_error;
using testing_support::TestFolder;
using testing_support::write_text;

// The examples of FIPS 180-2, appendix B, and of the empty message.
TEST(FileDigest, AgreesWithThePublishedExamples) {
  EXPECT_EQ(sha256_hex(""),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST(FileDigest, PartsGiveTheDigestOfTheWhole) {
  Sha256 sha;
  sha.update("a");
  sha.update("");
  sha.update("bc");
  EXPECT_EQ(sha.hex(), sha256_hex("abc"));
}

TEST(FileDigest, FilesAreOneAfterTheOther) {
  const TestFolder folder;
  write_text(folder / "1", "ab");
  write_text(folder / "2", "c");
  EXPECT_EQ(sha256_of_files({folder / "1", folder / "2"}), sha256_hex("abc"));
}

// The digests of the table in data/digits/README.md.
TEST(FileDigest, KnowsTheEmbeddedDigits) {
  const std::string folder = std::string(CROSSBOW_SOURCE_DIR) + "/inputs/data/digits/";
  EXPECT_EQ(sha256_of_files({folder + "train-images-idx3-ubyte.gz"}),
            "a4238e4f24d2b14b65918aa2b233e1725c28d99c724abcb2298a5d8950be798d");
  EXPECT_EQ(sha256_of_files({folder + "test-labels-idx1-ubyte.gz"}),
            "b98be34b7739c5a3767378decb3d0e90263a4198518ff5a463cfb0af6c8022e4");
}

TEST(FileDigest, AMissingFileIsAnErrorWithPathAndReason) {
  expect_error([] { sha256_of_files({"/nowhere/x"}); },
               {"/nowhere/x", "No such file or directory"});
  expect_error([] { sha256_of_files({"/"}); }, {"it is a folder"});
}

}  // namespace
}  // namespace crossbow
