# base/build_info.hpp: what this program was built of, for the run record and --version.

set(crossbow_git "unknown")
find_package(Git QUIET)
if(Git_FOUND)
  execute_process(COMMAND "${GIT_EXECUTABLE}" describe --always --dirty --tags
                  WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
                  OUTPUT_VARIABLE crossbow_git_describe OUTPUT_STRIP_TRAILING_WHITESPACE
                  RESULT_VARIABLE crossbow_git_status ERROR_QUIET)
  if(crossbow_git_status EQUAL 0)
    set(crossbow_git "${crossbow_git_describe}")
  endif()
endif()
if(EXISTS "${PROJECT_SOURCE_DIR}/.git/logs/HEAD")  # configure again after a commit
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
               "${PROJECT_SOURCE_DIR}/.git/logs/HEAD")
endif()

string(TOUPPER "${CMAKE_BUILD_TYPE}" crossbow_build_type)
get_target_property(crossbow_options_list crossbow_options INTERFACE_COMPILE_OPTIONS)
list(FILTER crossbow_options_list INCLUDE REGEX "COMPILE_LANGUAGE:CXX")
list(TRANSFORM crossbow_options_list REPLACE "^.*CXX>:(.*)>$" "\\1")
list(JOIN crossbow_options_list " " crossbow_options_text)
string(STRIP "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${crossbow_build_type}} ${crossbow_options_text}"
       crossbow_flags)
string(REPLACE "\"" "\\\"" crossbow_flags "${crossbow_flags}")
set(crossbow_backend "host")
if(CROSSBOW_CUDA)
  set(crossbow_backend "cuda")
endif()
configure_file("${PROJECT_SOURCE_DIR}/cmake/build_info.hpp.in"
               "${PROJECT_BINARY_DIR}/generated/base/build_info.hpp" @ONLY)
