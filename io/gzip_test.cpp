#include "io/gzip.hpp"

#include <string>

#include <gtest/gtest.h>

#include "io/test_support.hpp"

namespace crossbow {
namespace {

using testing_support::Bytes;
using testing_support::expect_error;

// What `printf hello | gzip -9n` of gzip 1.12 writes.
const Bytes hello{0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02,
                  0x03, 0xcb, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00, 0x86,
                  0xa6, 0x10, 0x36, 0x05, 0x00, 0x00, 0x00};

std::string text_of(const Bytes& bytes) {
  return {bytes.begin(), bytes.end()};
}

TEST(Gzip, Uncompresses) {
  EXPECT_TRUE(is_gzip(hello));
  EXPECT_EQ(text_of(gunzip(hello, 100, "x")), "hello");
}

TEST(Gzip, StopsAtTheLimit) {
  EXPECT_EQ(text_of(gunzip(hello, 3, "x")), "hel");
}

TEST(Gzip, TakesSeveralMembers) {
  Bytes two = hello;
  two.insert(two.end(), hello.begin(), hello.end());
  EXPECT_EQ(text_of(gunzip(two, 100, "x")), "hellohello");
}

TEST(Gzip, EveryCutIsFound) {
  for (std::size_t size = 2; size < hello.size(); ++size) {
    const Bytes cut(hello.begin(), hello.begin() + std::ptrdiff_t(size));
    expect_error([&] { gunzip(cut, 100, "x.gz"); }, {"end too early", "x.gz, offset "});
  }
}

TEST(Gzip, EveryFlippedBitOfTheDataOrChecksumsIsFound) {
  for (std::size_t i = 10; i < hello.size(); ++i) {
    Bytes bad = hello;
    bad[i] ^= 1U;
    expect_error([&] { gunzip(bad, 100, "x.gz"); }, {"x.gz, offset "});
  }
}

TEST(Gzip, OtherBytesAfterTheEndAreNamed) {
  Bytes more = hello;
  more.push_back(65);
  more.push_back(66);
  expect_error([&] { gunzip(more, 100, "x.gz"); },
               {"2 bytes follow", "the first is 65", "x.gz, offset 5"});
}

TEST(Gzip, WhatIsNotGzipIsNamed) {
  const Bytes html{'<', 'h', 't', 'm', 'l', '>'};
  EXPECT_FALSE(is_gzip(html));
  expect_error([&] { gunzip(html, 100, "x.gz"); }, {"x.gz, offset 0", "header"});
}

}  // namespace
}  // namespace crossbow
