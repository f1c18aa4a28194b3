# Every library this needs. A missing one is named with the Debian package that has it.

include(Kokkos)

set(crossbow_deps "${PROJECT_SOURCE_DIR}/.deps")

# find_package, and a message that tells what to install if it fails.
macro(crossbow_find name debian)
  find_package(${name} ${ARGN} QUIET)
  if(NOT ${name}_FOUND)
    string(JOIN " " crossbow_wanted ${name} ${ARGN})
    message(FATAL_ERROR
      "${crossbow_wanted} was not found. Install the Debian package ${debian}, run "
      "scripts/bootstrap, or add the site's own to CMAKE_PREFIX_PATH.")
  endif()
endmacro()

find_package(Threads REQUIRED)
crossbow_find(Hwloc libhwloc-dev 2.9)
crossbow_find(HDF5 libhdf5-dev 1.10 COMPONENTS C)
crossbow_find(tomlplusplus libtomlplusplus-dev 3.0)
crossbow_find(nlohmann_json nlohmann-json3-dev 3.9)
crossbow_find(ZLIB zlib1g-dev)
crossbow_find(libjpeg-turbo libturbojpeg0-dev 2.1)
crossbow_find(PNG libpng-dev 1.6)
crossbow_find(LibArchive libarchive-dev 3.4)
crossbow_find(Protobuf libprotobuf-dev)  # ONNX's package links it without looking for it
crossbow_find(ONNX libonnx-dev)
crossbow_find(OpenSSL libssl-dev COMPONENTS Crypto)
crossbow_find(fmt libfmt-dev)
crossbow_find(spdlog libspdlog-dev)
crossbow_find(CLI11 libcli11-dev 2.1)
if(NOT TARGET hdf5::hdf5)
  message(FATAL_ERROR "HDF5 was found without its C library (target hdf5::hdf5).")
endif()

if(CROSSBOW_FUZZ)  # the readers lie below all that computes
  return()
endif()

# oneDNN
find_package(dnnl 3.2 QUIET)
if(NOT dnnl_FOUND)
  find_package(dnnl 3.2 QUIET PATHS "${crossbow_deps}/host" NO_DEFAULT_PATH)
endif()
if(NOT dnnl_FOUND)
  message(FATAL_ERROR "oneDNN 3.2 or later was not found. Run scripts/bootstrap, which fetches "
    "it, or set dnnl_ROOT to the site's own (Debian's libdnnl-dev must be 3.2 or later).")
endif()

# Kokkos
if(CROSSBOW_CUDA)
  crossbow_locate_kokkos(ON "${crossbow_deps}/cuda")
  set(crossbow_bootstrap "scripts/bootstrap --cuda")
else()
  crossbow_locate_kokkos(OFF "${crossbow_deps}/host")
  set(crossbow_bootstrap "scripts/bootstrap")
endif()
if(NOT Kokkos_DIR)
  message(FATAL_ERROR "Kokkos 4.7 or later (with CUDA: ${CROSSBOW_CUDA}) was not found. Run "
    "${crossbow_bootstrap}, which builds it, or set Kokkos_ROOT to the site's own (Debian's "
    "libkokkos-dev must be 4.7 or later).")
endif()
if(CROSSBOW_CUDA)
  include(Cuda)
endif()
find_package(Kokkos 4.7 REQUIRED)
if(NOT Kokkos_ENABLE_SERIAL OR NOT Kokkos_ENABLE_OPENMP)
  message(FATAL_ERROR "The Kokkos in ${Kokkos_DIR} lacks Serial or OpenMP (it has "
    "${Kokkos_DEVICES}). Unset Kokkos_ROOT and run ${crossbow_bootstrap}, or ask for both.")
endif()

# Kokkos was compiled for one processor; a program for another must not take its code along.
if(Kokkos_DIR MATCHES "^${crossbow_deps}/[^/]+")
  set(crossbow_kokkos_prefix "${CMAKE_MATCH_0}")
  file(STRINGS "${crossbow_kokkos_prefix}/crossbow-arch" crossbow_kokkos_arch)
  if(NOT crossbow_kokkos_arch STREQUAL CROSSBOW_ARCH)
    message(FATAL_ERROR "Kokkos in ${crossbow_kokkos_prefix} is compiled for "
      "${crossbow_kokkos_arch}, this build for ${CROSSBOW_ARCH}. Run "
      "CROSSBOW_ARCH=${CROSSBOW_ARCH} ${crossbow_bootstrap}.")
  endif()
endif()

# Tests and benchmarks
if(BUILD_TESTING)
  crossbow_find(GTest "libgtest-dev libgmock-dev")
  if(NOT TARGET GTest::gmock)
    message(FATAL_ERROR "GoogleTest was found without GoogleMock. Install the Debian package "
      "libgmock-dev.")
  endif()
endif()
if(CROSSBOW_BENCHMARKS)
  crossbow_find(benchmark libbenchmark-dev)
endif()
