#pragma once
// Contracts for errors of the programmer; input of the user is checked by
// CROSSBOW_VALIDATE (base/error.hpp). Compiled away in release builds, aborting with the
// place in debug builds.

#ifdef CROSSBOW_CONTRACTS
#include <cstdio>
#include <cstdlib>
#define CROSSBOW_CONTRACT(kind, condition)                                         \
  do {                                                                             \
    if (!(condition)) {                                                            \
      std::fprintf(                                                                \
          stderr, "%s:%d: %s(%s) failed\n", __FILE__, __LINE__, kind, #condition); \
      std::abort();                                                                \
    }                                                                              \
  } while (false)
#else
#define CROSSBOW_CONTRACT(kind, condition) static_cast<void>(0)
#endif

/// What a caller must guarantee.
#define CROSSBOW_EXPECT(condition) CROSSBOW_CONTRACT("EXPECT", condition)
/// What a function guarantees.
#define CROSSBOW_ENSURE(condition) CROSSBOW_CONTRACT("ENSURE", condition)
