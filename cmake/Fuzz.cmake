# One libFuzzer program for each reader of files from outside: <stem>_fuzz.cpp beside it becomes
# crossbow_<stem>_fuzz, with the corpus regression/corpora/<stem>. scripts/fuzz runs them.

if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  message(FATAL_ERROR "CROSSBOW_FUZZ needs Clang (libFuzzer), not ${CMAKE_CXX_COMPILER_ID}. Use "
    "the preset fuzz after scripts/bootstrap --tools.")
endif()

# crossbow_fuzz(source... LINK libraries...): the first source is the target's own.
function(crossbow_fuzz)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "LINK")
  list(GET arg_UNPARSED_ARGUMENTS 0 source)
  get_filename_component(name "${source}" NAME_WE)
  add_executable(crossbow_${name} ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(crossbow_${name} PRIVATE ${arg_LINK})
  target_link_options(crossbow_${name} PRIVATE -fsanitize=fuzzer)
  target_compile_definitions(crossbow_${name} PRIVATE CROSSBOW_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
endfunction()

# The parser of decks as part of the program, so that it is watched, too: Debian has it in a
# library. The others' libraries (HDF5, hwloc, zlib) are fed blindly. A letter beyond ASCII after
# the \ at the end of a line in quotes takes toml++ 3.3 to code that it calls unreachable.
set_source_files_properties(io/input_deck.cpp io/deck_checker.cpp PROPERTIES COMPILE_OPTIONS
  "-UTOML_HEADER_ONLY;-DTOML_HEADER_ONLY=1;-UTOML_SHARED_LIB;-fno-sanitize=unreachable")

crossbow_fuzz(src/config/run_config_fuzz.cpp LINK crossbow_config)
crossbow_fuzz(io/importers/idx_fuzz.cpp LINK crossbow_io)
crossbow_fuzz(io/importers/cifar_fuzz.cpp LINK crossbow_io)
crossbow_fuzz(io/image_codec_fuzz.cpp LINK crossbow_io)
crossbow_fuzz(io/checkpoint_file_fuzz.cpp io/leaks_of_hdf5_test.cpp LINK crossbow_io)
crossbow_fuzz(io/dataset_file_fuzz.cpp io/leaks_of_hdf5_test.cpp LINK crossbow_io)
crossbow_fuzz(io/npy_array_fuzz.cpp LINK crossbow_io)
crossbow_fuzz(topology/probe_fuzz.cpp LINK crossbow_topology)
# The driver's library needs Kokkos; this part of it does not.
crossbow_fuzz(src/driver/plan_file_fuzz.cpp src/driver/plan_file.cpp
              LINK crossbow_io crossbow_topology)
