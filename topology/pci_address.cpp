#include "topology/pci_address.hpp"

#include <array>
#include <cstdio>

namespace crossbow {

std::string pci_address(unsigned domain,
                        unsigned bus,
                        unsigned device,
                        unsigned function) {
  std::array<char, 40> text{};
  std::snprintf(
      text.data(), text.size(), "%04x:%02x:%02x.%x", domain, bus, device, function);
  return text.data();
}

std::string plain_pci_address(const std::string& address) {
  unsigned domain = 0, bus = 0, device = 0, function = 0;
  const bool is_address =
      std::sscanf(address.c_str(), "%x:%x:%x.%x", &domain, &bus, &device, &function) == 4;
  return is_address ? pci_address(domain, bus, device, function) : address;
}

}  // namespace crossbow
