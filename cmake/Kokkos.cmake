# Find Kokkos: the site's own first, then what scripts/bootstrap built. A site may have a Kokkos
# with CUDA, which cannot make the host program (it aborts where no device is), and the other
# way round, so the first installation that fits is taken, not the first that is there.

# Set `result` to the folder of the CMake package in prefix `prefix` if it fits `want_cuda`.
function(crossbow_kokkos_in prefix want_cuda result)
  set(${result} "" PARENT_SCOPE)
  foreach(folder IN ITEMS lib lib64 "lib/${CMAKE_LIBRARY_ARCHITECTURE}" .)
    set(package "${prefix}/${folder}/cmake/Kokkos")
    if(folder STREQUAL ".")  # Kokkos_DIR itself
      set(package "${prefix}")
    endif()
    if(NOT EXISTS "${package}/KokkosConfigCommon.cmake")
      continue()
    endif()
    file(STRINGS "${package}/KokkosConfigVersion.cmake" version REGEX "PACKAGE_VERSION \"[0-9]" )
    string(REGEX MATCH "[0-9]+\\.[0-9.]+" version "${version}")
    file(STRINGS "${package}/KokkosConfigCommon.cmake" cuda
         REGEX "Kokkos_DEVICES.*CUDA|Kokkos_ENABLE_CUDA ON")
    set(has_cuda OFF)
    if(cuda)
      set(has_cuda ON)
    endif()
    if(version VERSION_GREATER_EQUAL 4.7 AND has_cuda STREQUAL want_cuda)
      set(${result} "${package}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

# Set Kokkos_DIR to the first fitting one of the site, then of the prefixes in ARGN.
function(crossbow_locate_kokkos want_cuda)
  set(environment "$ENV{CMAKE_PREFIX_PATH}")
  string(REPLACE ":" ";" environment "${environment}")
  set(found "")
  foreach(prefix IN LISTS Kokkos_DIR ITEMS "$ENV{Kokkos_DIR}" LISTS Kokkos_ROOT
                    ITEMS "$ENV{Kokkos_ROOT}"
                    LISTS CMAKE_PREFIX_PATH environment CMAKE_SYSTEM_PREFIX_PATH ARGN)
    if(prefix AND NOT found)
      crossbow_kokkos_in("${prefix}" ${want_cuda} found)
    endif()
  endforeach()
  if(found)
    set(Kokkos_DIR "${found}" CACHE PATH "CMake package of Kokkos" FORCE)
  endif()
endfunction()
