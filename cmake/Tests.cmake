# One GoogleTest program per folder, the oracle's trajectories, and the tests of the scripts.

include(GoogleTest)

set(crossbow_test_environment
  "CROSSBOW_SOURCE_DIR=${PROJECT_SOURCE_DIR}"
  "CROSSBOW_CACHE=${PROJECT_SOURCE_DIR}/build/cache")
if(TARGET crossbow)
  list(APPEND crossbow_test_environment "CROSSBOW_PROGRAM=$<TARGET_FILE:crossbow>")
endif()

list(APPEND crossbow_test_environment "CROSSBOW_ORACLE=$<TARGET_FILE:crossbow_oracle>")

# What a sanitizer needs to build: all unit tests, or those in which threads meet.
add_custom_target(crossbow_unit_tests)
add_custom_target(crossbow_threads_tests)
set(crossbow_threaded base data averaging training driver)

function(crossbow_add_test_program name)
  get_property(folders GLOBAL PROPERTY crossbow_folders_${name})
  get_property(kokkos GLOBAL PROPERTY crossbow_kokkos_${name})
  set(sources "")
  foreach(folder IN LISTS folders)
    file(GLOB files CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}"
         "${PROJECT_SOURCE_DIR}/${folder}/*_test.cpp" "${PROJECT_SOURCE_DIR}/${folder}/test_*.cpp")
    list(APPEND sources ${files})
  endforeach()
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  if(NOT tests)
    return()
  endif()
  set(main GTest::gtest_main)
  if(kokkos)
    list(APPEND sources kernels/test_main.cpp)
    list(REMOVE_DUPLICATES sources)
    crossbow_mark_cuda(${sources})
    set(main "")
  endif()
  add_executable(crossbow_${name}_test ${sources})
  target_link_libraries(crossbow_${name}_test PRIVATE crossbow_${name} GTest::gmock ${main})
  crossbow_precompile(crossbow_${name}_test "${kokkos}" <gtest/gtest.h> <gmock/gmock.h>)
  target_compile_definitions(crossbow_${name}_test PRIVATE
    CROSSBOW_SOURCE_DIR="${PROJECT_SOURCE_DIR}" CROSSBOW_BINARY_DIR="${PROJECT_BINARY_DIR}")
  add_dependencies(crossbow_unit_tests crossbow_${name}_test)
  set(labels unit)
  if(name IN_LIST crossbow_threaded)
    set(labels unit-threads)  # one name that both -L unit and -L threads find: no lists here
    add_dependencies(crossbow_threads_tests crossbow_${name}_test)
  endif()
  # Listed when ctest runs, not when it is built: a build needs no working test program.
  gtest_discover_tests(crossbow_${name}_test TEST_PREFIX "${name}." DISCOVERY_MODE PRE_TEST
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
    PROPERTIES LABELS "${labels}" TIMEOUT 300)
endfunction()

# Stands in for NVIDIA's libraries, which are opened by name when a program runs.
add_library(crossbow_fake_nvidia SHARED topology/fakes/nvidia_ml.cpp)

get_property(crossbow_libraries GLOBAL PROPERTY crossbow_libraries)
foreach(name IN LISTS crossbow_libraries)
  crossbow_add_test_program(${name})
endforeach()
target_compile_definitions(crossbow_topology_test PRIVATE
  CROSSBOW_FAKE_NVIDIA_LIBRARY="$<TARGET_FILE:crossbow_fake_nvidia>")
add_dependencies(crossbow_topology_test crossbow_fake_nvidia)

file(GLOB crossbow_oracle_files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/regression/oracle/*.h5")
foreach(file IN LISTS crossbow_oracle_files)
  get_filename_component(case "${file}" NAME_WE)
  add_test(NAME oracle.${case} COMMAND crossbow_oracle "${file}")
  set_tests_properties(oracle.${case} PROPERTIES LABELS oracle TIMEOUT 600
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}" ENVIRONMENT "${crossbow_test_environment}")
endforeach()

# Regression cases: a deck, bands and a reference each. Those with a file `slow` are for the night.
file(GLOB crossbow_cases CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/regression/cases/*/case.toml")
foreach(file IN LISTS crossbow_cases)
  get_filename_component(folder "${file}" DIRECTORY)
  get_filename_component(case "${folder}" NAME)
  set(labels regression)
  if(EXISTS "${folder}/slow")
    set(labels "regression;slow")
  endif()
  add_test(NAME regression.${case} COMMAND "${PROJECT_SOURCE_DIR}/scripts/regression" "${folder}")
  set_tests_properties(regression.${case} PROPERTIES LABELS "${labels}" TIMEOUT 3600
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}" ENVIRONMENT "${crossbow_test_environment}")
endforeach()

# The tests of the scripts are shell scripts; status 77 means that this machine cannot run one.
file(GLOB crossbow_script_tests CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/scripts/tests/*.sh")
foreach(file IN LISTS crossbow_script_tests)
  get_filename_component(case "${file}" NAME_WE)
  add_test(NAME script.${case} COMMAND bash "${file}")
  set_tests_properties(script.${case} PROPERTIES LABELS script TIMEOUT 600
    SKIP_RETURN_CODE 77 WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
    ENVIRONMENT "${crossbow_test_environment}")
endforeach()
# Those in Python have a short form, and for the night a long one.
function(crossbow_add_python_test name labels timeout file)
  add_test(NAME script.${name}
    COMMAND python3 "${PROJECT_SOURCE_DIR}/scripts/tests/${file}" ${ARGN})
  set_tests_properties(script.${name} PROPERTIES LABELS "${labels}" TIMEOUT ${timeout}
    SKIP_RETURN_CODE 77 WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
    ENVIRONMENT "${crossbow_test_environment}")
endfunction()
crossbow_add_python_test(bad_input "script" 600 bad_input.py)
crossbow_add_python_test(bad_input_all "script;slow" 7200 bad_input.py --all)
crossbow_add_python_test(kill "script" 600 kill.py)
crossbow_add_python_test(weights "script" 600 weights.py)
crossbow_add_python_test(growth "script" 600 growth.py)
crossbow_add_python_test(kill_all "script;slow" 3600 kill.py --kills 200)
# These look at the clock, or need the cores.
foreach(case bench bootstrap run slurm signals faults going_on kill kill_all)
  if(TEST script.${case})
    set_tests_properties(script.${case} PROPERTIES RUN_SERIAL ON)
  endif()
endforeach()
