#pragma once
// PCI addresses in the one form that this folder compares them in: "0000:3b:00.0".

#include <string>

namespace crossbow {

/// Write an address.
std::string pci_address(unsigned domain,
                        unsigned bus,
                        unsigned device,
                        unsigned function);

/// Bring an address as others write it, e.g. "00000000:3B:00.0", into that form; give
/// what is no address back as it is.
std::string plain_pci_address(const std::string& address);

}  // namespace crossbow
