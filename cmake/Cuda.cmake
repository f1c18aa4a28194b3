# The CUDA language and libraries of crossbow-cuda. Included before Kokkos is found, since a
# Kokkos with CUDA asks for the language.

if(NOT CMAKE_CUDA_COMPILER AND NOT "$ENV{CUDACXX}" AND EXISTS "/usr/local/cuda/bin/nvcc")
  set(CMAKE_CUDA_COMPILER "/usr/local/cuda/bin/nvcc" CACHE FILEPATH "nvcc")  # often not in PATH
endif()
if(NOT CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES 90 CACHE STRING "CUDA architectures, as Kokkos was built for")
endif()
include(CheckLanguage)
check_language(CUDA)
if(NOT CMAKE_CUDA_COMPILER)
  message(FATAL_ERROR "No CUDA compiler was found. Install NVIDIA's CUDA Toolkit 12 or later, "
    "load its module or set CUDACXX to its nvcc.")
endif()
enable_language(CUDA)
if(NOT DEFINED CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake before 3.26 does not know it
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
endif()
# Kernels may call constexpr functions (base/random). A call from device code of a function that
# is for the host alone compiles with a warning and fails when it runs: an error here.
string(APPEND CMAKE_CUDA_FLAGS
       " -include ${PROJECT_SOURCE_DIR}/cmake/cuda13_compat.hpp --expt-relaxed-constexpr"
       " -Werror=cross-execution-space-call")

crossbow_find(CUDAToolkit "nvidia-cuda-toolkit (or NVIDIA's own)" 12)
