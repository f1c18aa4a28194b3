#include "io/npy_array.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "io/test_support.hpp"

namespace crossbow {
namespace {

using testing_support::Bytes;
using testing_support::expect_error;
using Shape = std::vector<std::int64_t>;

/// A .npy file of version 1.0, as numpy writes it.
Bytes file_of(const std::string& literal, const Bytes& elements) {
  std::string text = "\x93NUMPY" + std::string{'\1', '\0', '\x76', '\0'} + literal;
  text.resize(127, ' ');
  text += '\n';
  Bytes file(text.begin(), text.end());
  file.insert(file.end(), elements.begin(), elements.end());
  return file;
}

std::string literal_of(const std::string& type, const std::string& shape) {
  return "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" + shape + "), }";
}

NpyArray parse(const std::string& literal, const Bytes& elements) {
  return parse_npy(file_of(literal, elements), "x.npz, array w");
}

TEST(NpyArray, ReadsEveryTypeOfNumber) {
  using Doubles = std::vector<double>;
  const auto read =
      [](const std::string& type, const std::string& shape, const Bytes& b) {
        return npy_values<double>(parse(literal_of(type, shape), b), "w");
      };
  EXPECT_EQ(read("|b1", "2,", {1, 0}), (Doubles{1, 0}));
  EXPECT_EQ(read("|u1", "2,", {1, 255}), (Doubles{1, 255}));
  EXPECT_EQ(read("|i1", "2,", {1, 255}), (Doubles{1, -1}));
  EXPECT_EQ(read("<u2", "1,", {1, 255}), Doubles{65281});
  EXPECT_EQ(read("<i2", "1,", {1, 255}), Doubles{-255});
  EXPECT_EQ(read("<u4", "", {0, 0, 0, 128}), Doubles{2147483648.0});
  EXPECT_EQ(read("<i4", "", {0, 0, 0, 128}), Doubles{-2147483648.0});
  EXPECT_EQ(read("<u8", "", {0, 0, 0, 0, 0, 0, 0, 128}), Doubles{0x1p63});
  EXPECT_EQ(read("<i8", "", {0, 0, 0, 0, 0, 0, 0, 128}), Doubles{-0x1p63});
  EXPECT_EQ(read("<f4", "", {0, 0, 0xc0, 0xbf}), Doubles{-1.5});
  EXPECT_EQ(read("<f8", "", {0, 0, 0, 0, 0, 0, 0xf8, 0xbf}), Doubles{-1.5});
}

TEST(NpyArray, FortranOrderBecomesCOrder) {
  // numpy.asfortranarray(numpy.arange(12).reshape(2, 3, 2))
  const NpyArray array =
      parse("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3, 2), }",
            {0, 6, 2, 8, 4, 10, 1, 7, 3, 9, 5, 11});
  EXPECT_EQ(array.bytes, (Bytes{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
}

TEST(NpyArray, TextsKeepTheirBytes) {
  const NpyArray array = parse(literal_of("<U2", "1,"), {97, 0, 0, 0, 98, 0, 0, 0});
  EXPECT_EQ(array.type, "U2");
  EXPECT_EQ(array.bytes.size(), 8U);
  expect_error([&] { npy_values<float>(array, "w"); }, {"type U2", "numbers"});
}

TEST(NpyArray, KeysMayComeInAnyOrderAndLayout) {
  const NpyArray array =
      parse("{ 'shape' :(1 ,2),'fortran_order':False,'descr':'|u1'}", {3, 4});
  EXPECT_EQ(array.shape, (Shape{1, 2}));
  EXPECT_EQ(array.bytes, (Bytes{3, 4}));
}

TEST(NpyArray, OtherVersionsHaveALengthOfFourBytes) {
  Bytes file = file_of(literal_of("|u1", "2,"), {3, 4});
  file[6] = 2;
  file.insert(file.begin() + 10, 2, 0);
  EXPECT_EQ(parse_npy(file, "w").bytes, (Bytes{3, 4}));
  file[6] = 4;
  expect_error([&] { parse_npy(file, "w"); }, {"version 4"});
}

TEST(NpyArray, RefusedTypesAreNamed) {
  for (const std::string type :
       {">f4", "<f2", "|O", "|S3", "<c8", "<u3", "", "<U", "f44"}) {
    expect_error(
        [&] {
          parse(literal_of(type, "1,"), {0, 0, 0, 0});
        },
        {"type " + type, "x.npz, array w", "astype"});
  }
  expect_error(
      [&] {
        parse("{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': (1,), }", {});
      },
      {"header", "[('a'"});
}

TEST(NpyArray, DamagedHeadersAreNamed) {
  for (const char* literal : {"",
                              "{}",
                              "{'descr': '<f4'}",
                              "{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}",
                              "{'descr': '<f4', 'fortran_order': True, 'shape': 1}",
                              "{'descr': '<f4', 'fortran_order': True, 'shape': (-1,)}",
                              "{'descr': '<f4', 'fortran_order': True, 'shape': (1,",
                              "{'descr': '<f4', 'fortran_order': True, 'shape': (1,)} x",
                              "{'descr': '<f4', 'descr': '<f4', 'shape': (1,)}",
                              "{'a': '<f4', 'fortran_order': True, 'shape': (1,)}"}) {
    expect_error([&] { parse(literal, {0, 0, 0, 0}); }, {"header", "x.npz, array w"});
  }
  const Bytes good = file_of(literal_of("<f4", "1,"), {0, 0, 0, 0});
  for (std::size_t size = 0; size < good.size(); ++size) {
    const Bytes cut(good.begin(), good.begin() + std::ptrdiff_t(size));
    expect_error([&] { parse_npy(cut, "x.npz, array w"); }, {"x.npz, array w"});
  }
}

TEST(NpyArray, ElementsMustBeAsManyAsPromised) {
  expect_error(
      [] {
        parse(literal_of("<f4", "2,"), {0, 0, 0, 0});
      },
      {"4 bytes", "promises 8"});
  expect_error(
      [] {
        parse(literal_of("<f4", "1,"), {0, 0, 0, 0, 0});
      },
      {"5 bytes", "promises 4"});
  expect_error([] { parse(literal_of("<f4", "4294967296, 4294967296"), {}); },
               {"x.npz, array w"});
}

TEST(NpyArray, IntegersMustFit) {
  const NpyArray large = parse(literal_of("<u4", "1,"), {0, 0, 0, 128});
  expect_error([&] { npy_values<std::int32_t>(large, "labels"); },
               {"2147483648", "labels"});
  EXPECT_EQ(npy_values<std::int64_t>(large, "labels").front(), 2147483648);
  const NpyArray real = parse(literal_of("<f4", "1,"), {0, 0, 0, 0});
  expect_error([&] { npy_values<std::int64_t>(real, "labels"); },
               {"type f4", "integers"});
}

TEST(NpyArray, NotANumberStaysOne) {
  const std::vector<float> values{std::numeric_limits<float>::quiet_NaN(), 1};
  EXPECT_TRUE(std::isnan(npy_values<float>(npy_floats({2}, values), "w")[0]));
}

TEST(NpyArray, WritesTheHeaderThatNumpyReads) {
  const std::string header = npy_header(npy_floats({2, 3}, std::vector<float>(6, 0.0F)));
  EXPECT_EQ(header.size() % 64, 0U);
  EXPECT_TRUE(header.starts_with("\x93NUMPY" + std::string{'\1', '\0', '\x76', '\0'} +
                                 literal_of("<f4", "2, 3") + " "))
      << header;
  EXPECT_TRUE(header.ends_with(" \n"));
  EXPECT_NE(npy_header(npy_floats({1}, std::vector<float>{0})).find("(1,)"),
            std::string::npos);
  EXPECT_NE(npy_header(npy_floats({}, std::vector<float>{0})).find("()"),
            std::string::npos);
}

}  // namespace
}  // namespace crossbow
