# How a folder becomes a library, a program or a benchmark. Files are found by pattern, so that
# adding one needs no change here: *_test.cpp and test_*.cpp go into the folder's test,
# *_benchmark.cpp into its benchmark, main.cpp and *_check.cpp into a program, *_fuzz.cpp into a
# fuzz target (Fuzz.cmake), the rest into its library.

# Set `result` to the .cpp files of a folder's library.
function(crossbow_sources folder result)
  file(GLOB files CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}"
       "${PROJECT_SOURCE_DIR}/${folder}/*.cpp")
  list(FILTER files EXCLUDE REGEX "(_test|_benchmark|_check|_fuzz|/main)\\.cpp$|/test_[a-z0-9_]*\\.cpp$")
  set(${result} ${files} PARENT_SCOPE)
endfunction()

# Everything that sees Kokkos is compiled by nvcc in a CUDA build.
function(crossbow_mark_cuda)
  if(CROSSBOW_CUDA AND ARGN)
    set_source_files_properties(${ARGN} PROPERTIES LANGUAGE CUDA)
  endif()
endfunction()

# With sanitizers compilers are slow: the headers that most sources of a target have in common are
# compiled once. The other builds go without, so that each source says what it includes.
function(crossbow_precompile target kokkos)
  if(CROSSBOW_SANITIZE AND NOT CROSSBOW_FUZZ)
    set(headers <string> <vector> <fmt/format.h> ${ARGN})
    if(kokkos)
      list(APPEND headers <Kokkos_Core.hpp>)
    endif()
    target_precompile_headers(${target} PRIVATE ${headers})
  endif()
endfunction()

# crossbow_library(name [KOKKOS] FOLDERS ... LINK ...): the target crossbow_<name>.
function(crossbow_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "KOKKOS" "" "FOLDERS;LINK")
  set(sources "")
  foreach(folder IN LISTS arg_FOLDERS)
    crossbow_sources(${folder} files)
    list(APPEND sources ${files})
  endforeach()
  if(arg_KOKKOS)
    crossbow_mark_cuda(${sources})
  endif()
  if(sources)
    add_library(crossbow_${name} STATIC ${sources})
    target_link_libraries(crossbow_${name} PUBLIC crossbow_options ${arg_LINK})
    crossbow_precompile(crossbow_${name} "${arg_KOKKOS}")
  else()  # a folder without sources yet
    add_library(crossbow_${name} INTERFACE)
    target_link_libraries(crossbow_${name} INTERFACE crossbow_options ${arg_LINK})
  endif()
  set_property(GLOBAL PROPERTY crossbow_folders_${name} ${arg_FOLDERS})
  set_property(GLOBAL PROPERTY crossbow_kokkos_${name} ${arg_KOKKOS})
  set_property(GLOBAL APPEND PROPERTY crossbow_libraries ${name})
endfunction()

# crossbow_program(name main [libraries...]): a program of one file, over the driver by default.
function(crossbow_program name main)
  set(libraries ${ARGN})
  if(NOT libraries)
    set(libraries crossbow_driver)
  endif()
  crossbow_mark_cuda(${main})
  add_executable(${name} ${main})
  target_link_libraries(${name} PRIVATE ${libraries})
endfunction()

# crossbow_benchmark(name): crossbow_<name>_benchmark of the folder's *_benchmark.cpp. Built by name,
# or all as crossbow_benchmarks: nothing else needs them.
function(crossbow_benchmark name)
  get_property(folders GLOBAL PROPERTY crossbow_folders_${name})
  set(sources "")
  foreach(folder IN LISTS folders)
    file(GLOB files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${folder}/*_benchmark.cpp")
    list(APPEND sources ${files})
  endforeach()
  if(sources)
    crossbow_mark_cuda(${sources})
    add_executable(crossbow_${name}_benchmark EXCLUDE_FROM_ALL ${sources})
    target_link_libraries(crossbow_${name}_benchmark PRIVATE crossbow_${name}
                          benchmark::benchmark)
    if(NOT TARGET crossbow_benchmarks)
      add_custom_target(crossbow_benchmarks)
    endif()
    add_dependencies(crossbow_benchmarks crossbow_${name}_benchmark)
  endif()
endfunction()

# crossbow_no_contraction(DIRECTORY folder | FILES patterns...): -ffp-contract=off for sources.
function(crossbow_no_contraction kind)
  set(files "")
  foreach(pattern IN LISTS ARGN)
    if(kind STREQUAL "DIRECTORY")
      string(APPEND pattern "/*.cpp")
    endif()
    file(GLOB matches CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}"
         "${PROJECT_SOURCE_DIR}/${pattern}")
    list(APPEND files ${matches})
  endforeach()
  if(files)
    set_property(SOURCE ${files} APPEND PROPERTY COMPILE_OPTIONS
      "$<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>"
      "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-ffp-contract=off;--fmad=false>")
  endif()
endfunction()
