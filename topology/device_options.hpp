#pragma once
// What a deck says about devices: [devices].

#include <string>
#include <vector>

namespace crossbow {

enum class BackendName { automatic, host, cuda };

/// What a host device is.
enum class HostDomain { machine, numa, package, l3, core };

struct DeviceOptions {
  BackendName backend = BackendName::automatic;
  HostDomain domain = HostDomain::numa;
  std::vector<std::string> use;  // devices by id, PCI address or UUID; none: all
  std::string
      topology;      // play this machine on the host: XML file or synthetic; none: this
  std::string plan;  // file with placement and tree; none: made here
  bool bind = true;  // keep each learner on its cores

  bool operator==(const DeviceOptions&) const = default;
};

}  // namespace crossbow
