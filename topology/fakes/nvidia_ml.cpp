// A management library for tests: a machine with four GPUs in an order of its own, two of
// them joined by two NVLinks, one link to an NVSwitch each for the others. Signatures
// and structures are those of NVIDIA's documentation.

#include <cstdio>

// NOLINTBEGIN(readability-identifier-naming): the names are NVIDIA's.
extern "C" {

struct PciInfo {
  char legacy_bus_id[16];
  unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
  char bus_id[32];
};
struct Memory {
  unsigned long long total, free, used;
};

static const char* const addresses[4] = {
    "00000000:86:00.0", "00000000:06:00.0", "00000000:07:00.0", "00000000:85:00.0"};

static int handles[4];

static unsigned index_of(const void* device) {
  return static_cast<unsigned>(static_cast<const int*>(device) - handles);
}

static void set_bus_id(PciInfo* pci, const char* address) {
  *pci = PciInfo{};
  std::snprintf(pci->bus_id, sizeof pci->bus_id, "%s", address);
}

int nvmlInit_v2() {
  return 0;
}
int nvmlShutdown() {
  return 0;
}
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 4;
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  *device = &handles[index % 4];
  return index < 4 ? 0 : 2;
}
int nvmlDeviceGetPciInfo_v3(void* device, PciInfo* pci) {
  set_bus_id(pci, addresses[index_of(device)]);
  return 0;
}
int nvmlDeviceGetName(void* device, char* name, unsigned length) {
  std::snprintf(name, length, "Fake GPU %u", index_of(device));
  return 0;
}
int nvmlDeviceGetUUID(void* device, char* uuid, unsigned length) {
  std::snprintf(uuid, length, "GPU-%u", index_of(device));
  return 0;
}
int nvmlDeviceGetMemoryInfo(void* device, Memory* memory) {
  memory->total = 1000ULL * (index_of(device) + 1);
  return 0;
}
int nvmlDeviceGetMaxPcieLinkGeneration(void*, unsigned* generation) {
  *generation = 3;
  return 0;
}
int nvmlDeviceGetMaxPcieLinkWidth(void*, unsigned* width) {
  *width = 16;
  return 0;
}
// 06:00.0 and 07:00.0 have the links 0 and 3 to each other, the others link 1 to a
// switch; all other links are down or not there.
int nvmlDeviceGetNvLinkState(void* device, unsigned link, unsigned* state) {
  const bool has_peer = index_of(device) == 1 || index_of(device) == 2;
  *state = has_peer ? (link == 0 || link == 3) : link == 1;
  return link < 6 ? 0 : 2;
}
int nvmlDeviceGetNvLinkVersion(void*, unsigned, unsigned* version) {
  *version = 2;
  return 0;
}
int nvmlDeviceGetNvLinkRemotePciInfo_v2(void* device, unsigned, PciInfo* pci) {
  const unsigned index = index_of(device);
  set_bus_id(pci, index == 1 || index == 2 ? addresses[3 - index] : "00000000:C1:00.0");
  return 0;
}
int nvmlDeviceGetNvLinkRemoteDeviceType(void* device, unsigned, unsigned* type) {
  *type = index_of(device) == 1 || index_of(device) == 2 ? 0 : 2;
  return 0;
}

// The driver shows the process two of them (as CUDA_VISIBLE_DEVICES does).
int cuInit(unsigned) {
  return 0;
}
int cuDeviceGetCount(int* count) {
  *count = 2;
  return 0;
}
int cuDeviceGet(int* device, int ordinal) {
  *device = 10 + ordinal;
  return 0;
}
int cuDeviceGetPCIBusId(char* address, int length, int device) {
  std::snprintf(address,
                static_cast<unsigned>(length),
                "%s",
                device == 10 ? "0000:86:00.0" : "0000:07:00.0");
  return 0;
}
}
// NOLINTEND(readability-identifier-naming)
