#include "io/importers/cifar.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "io/file_digest.hpp"
#include "io/test_archive.hpp"
#include "io/test_support.hpp"

namespace crossbow {
namespace {

using testing_support::Bytes;
using testing_support::expect_error;
using testing_support::TestFolder;
using testing_support::write_archive;
using testing_support::write_folder;

using Files = std::map<std::string, Bytes>;

// A record of `labels`, whose pixel i is (i mod 251, red; 7; blue).
Bytes record(const Bytes& labels, std::uint8_t blue) {
  Bytes bytes = labels;
  for (int i = 0; i < 1024; ++i) {
    bytes.push_back(static_cast<std::uint8_t>(i % 251));
  }
  bytes.insert(bytes.end(), 1024, 7);
  bytes.insert(bytes.end(), 1024, blue);
  return bytes;
}

Bytes operator+(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

const std::string names_text =
    "airplane\nautomobile\nbird\ncat\ndeer\ndog\nfrog\nhorse\nship\ntruck\n\n";

// Batch i has the labels i and i + 1; the test batch has label 9.
Files batches() {
  Files files{{"test_batch.bin", record({9}, 90)},
              {"batches.meta.txt", Bytes(names_text.begin(), names_text.end())}};
  for (std::uint8_t i = 1; i <= 5; ++i) {
    files["data_batch_" + std::to_string(i) + ".bin"] =
        record({i}, i) + record({static_cast<std::uint8_t>(i + 1)}, i);
  }
  return files;
}

Files below(const std::string& folder, const Files& files) {
  Files moved;
  for (const auto& [name, bytes] : files) {
    moved[folder + name] = bytes;
  }
  return moved;
}

class CifarTest : public testing::Test {
 protected:
  ImportResult import(const Files& files, const ImportOptions& options = {}) {
    std::filesystem::remove_all(folder / "set");
    write_folder(folder / "set", files);
    return import_cifar(cifar10(), folder / "set", options);
  }
  void refuse(const Files& files,
              const std::vector<std::string>& parts,
              ImportOptions options = {}) {
    expect_error([&] { import(files, options); }, parts);
  }
  Files changed(const std::string& name, const Bytes& bytes) {
    Files files = batches();
    files[name] = bytes;
    return files;
  }

  TestFolder folder;
};

TEST_F(CifarTest, PlanesBecomePixels) {
  const Dataset data = import(batches()).data;
  EXPECT_EQ(data.n, 10);
  EXPECT_EQ(data.h, 32);
  EXPECT_EQ(data.w, 32);
  EXPECT_EQ(data.c, 3);
  EXPECT_EQ(data.classes, 10);
  EXPECT_EQ(data.class_names[9], "truck");
  EXPECT_EQ(data.labels, (std::vector<std::int32_t>{1, 2, 2, 3, 3, 4, 4, 5, 5, 6}));
  ASSERT_EQ(data.images.size(), 10U * 3072);
  const auto pixel = [&](std::int64_t sample, std::int64_t y, std::int64_t x) {
    const auto at = data.images.begin() + ((sample * 32 + y) * 32 + x) * 3;
    return Bytes(at, at + 3);
  };
  EXPECT_EQ(pixel(0, 0, 0), (Bytes{0, 7, 1}));
  EXPECT_EQ(pixel(0, 0, 31), (Bytes{31, 7, 1}));
  EXPECT_EQ(pixel(9, 1, 0), (Bytes{32, 7, 5}));
  EXPECT_EQ(pixel(4, 31, 31), (Bytes{19, 7, 3}));  // 1023 - 4 * 251
  const Dataset test = import(batches(), {.split = Split::test, .progress = {}}).data;
  EXPECT_EQ(test.labels, std::vector<std::int32_t>{9});
  EXPECT_EQ(test.images[2], 90);
}

TEST_F(CifarTest, TheFolderItsParentAndItsArchivesAreTheSame) {
  const Files files = below("cifar-10-batches-bin/", batches());
  write_folder(folder / "x", files);
  write_archive(folder / "x.tar", files);
  write_archive(folder / "x.tar.gz", files);
  const Dataset whole =
      import_cifar(cifar10(), folder / "x/cifar-10-batches-bin", {}).data;
  for (const char* name : {"x", "x.tar", "x.tar.gz"}) {
    const std::string source = folder / name;
    EXPECT_TRUE(is_cifar(cifar10(), source));
    EXPECT_FALSE(is_cifar(cifar100(), source));
    const Dataset data = import_cifar(cifar10(), source, {}).data;
    EXPECT_EQ(data.images, whole.images);
    EXPECT_EQ(data.labels, whole.labels);
    EXPECT_EQ(data.class_names, whole.class_names);
    EXPECT_EQ(data.digest, cifar_digest(cifar10(), source, Split::train));
  }
  Sha256 sha;
  const Files plain = batches();
  for (int i = 1; i <= 5; ++i) {
    const Bytes& bytes = plain.at("data_batch_" + std::to_string(i) + ".bin");
    sha.update(bytes.data(), bytes.size());
  }
  EXPECT_EQ(whole.digest, sha.hex());
}

TEST_F(CifarTest, Cifar100LearnsTheFineLabel) {
  const Files files{{"train.bin", record({19, 99}, 1) + record({0, 50}, 2)},
                    {"test.bin", record({3, 4}, 1)}};
  write_folder(folder / "c", files);
  const Dataset data = import_cifar(cifar100(), folder / "c", {}).data;
  EXPECT_EQ(data.labels, (std::vector<std::int32_t>{99, 50}));
  EXPECT_EQ(data.classes, 100);
  EXPECT_TRUE(data.class_names.empty());
  write_folder(folder / "d", {{"train.bin", record({20, 99}, 1)}});
  expect_error([&] { import_cifar(cifar100(), folder / "d", {}); },
               {"train.bin, record 0", "label 20 is not below 20"});
}

TEST_F(CifarTest, ABadRecordIsNamedAndMayBeLeftOut) {
  const Bytes good = record({1}, 1);
  Bytes cut = good + good;
  cut.resize(cut.size() - 1);
  refuse(changed("data_batch_2.bin", cut),
         {"1 fault", "data_batch_2.bin, record 1", "ends after 3072 of its 3073 bytes"});
  const Files odd =
      changed("data_batch_3.bin", good + record({10}, 1) + record({255}, 1));
  refuse(odd,
         {"2 faults",
          "data_batch_3.bin, record 1: label 10 is not below 10",
          "record 2: label 255"});
  const ImportResult rest = import(odd, {.skip_bad = true, .progress = {}});
  EXPECT_EQ(rest.faults.count(), 2);
  EXPECT_EQ(rest.data.labels, (std::vector<std::int32_t>{1, 2, 2, 3, 1, 4, 5, 5, 6}));
  refuse(changed("data_batch_1.bin", {}), {"data_batch_1.bin", "empty"});
}

TEST_F(CifarTest, WhatIsMissingOrOddIsNamed) {
  Files files = batches();
  files.erase("data_batch_4.bin");
  refuse(files, {"no data_batch_4.bin", folder / "set", "binary version of cifar10"});
  refuse(changed("batches.meta.txt", {'a', '\n', 'b'}),
         {"batches.meta.txt", "2 names", "instead of 10"});
  expect_error([&] { import_cifar(cifar10(), folder / "none", {}); }, {folder / "none"});
}

}  // namespace
}  // namespace crossbow
