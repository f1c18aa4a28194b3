// For the address sanitizer only: HDF5 1.10 loses a few hundred bytes of its own each
// time it refuses a damaged file, and the tests show it many.

// The name is the sanitizer's.
// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming)
extern "C" const char* __lsan_default_suppressions();

// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming)
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libhdf5\n";
}
