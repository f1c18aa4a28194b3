# hwloc has no CMake package of its own: makes hwloc::hwloc.
find_path(Hwloc_INCLUDE_DIR hwloc.h)
# May lie in a folder of the architecture (Debian), which compilers search by themselves.
find_path(Hwloc_CONFIG_DIR hwloc/autogen/config.h HINTS "${Hwloc_INCLUDE_DIR}")
find_library(Hwloc_LIBRARY hwloc)
mark_as_advanced(Hwloc_INCLUDE_DIR Hwloc_CONFIG_DIR Hwloc_LIBRARY)

if(Hwloc_CONFIG_DIR)
  file(STRINGS "${Hwloc_CONFIG_DIR}/hwloc/autogen/config.h" Hwloc_version_line
       REGEX "^#define HWLOC_VERSION \"")
  string(REGEX MATCH "[0-9]+(\\.[0-9]+)*" Hwloc_VERSION "${Hwloc_version_line}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Hwloc REQUIRED_VARS Hwloc_LIBRARY Hwloc_INCLUDE_DIR
                                  VERSION_VAR Hwloc_VERSION)
if(Hwloc_FOUND AND NOT TARGET hwloc::hwloc)
  add_library(hwloc::hwloc UNKNOWN IMPORTED)
  set_target_properties(hwloc::hwloc PROPERTIES
    IMPORTED_LOCATION "${Hwloc_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${Hwloc_INCLUDE_DIR}")
endif()
