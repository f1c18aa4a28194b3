#include "topology/pci_address.hpp"

#include <gtest/gtest.h>

namespace crossbow {
namespace {

TEST(PciAddress, addresses_have_one_form) {
  EXPECT_EQ(plain_pci_address("00000000:3B:00.0"), "0000:3b:00.0");
  EXPECT_EQ(plain_pci_address("0004:05:00.1"), "0004:05:00.1");
  EXPECT_EQ(plain_pci_address("what"), "what");
}

}  // namespace
}  // namespace crossbow
