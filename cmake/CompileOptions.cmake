# Flags of every target, on crossbow_options. No -ffast-math and no -ffinite-math-only: a NaN
# must stay visible.

add_library(crossbow_options INTERFACE)
target_include_directories(crossbow_options INTERFACE
  "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/src" "${PROJECT_BINARY_DIR}/generated")
target_compile_features(crossbow_options INTERFACE cxx_std_20)

# Add flags for the host compiler, also where nvcc calls it.
function(crossbow_add_flags)
  foreach(flag IN LISTS ARGN)
    target_compile_options(crossbow_options INTERFACE
      "$<$<COMPILE_LANGUAGE:CXX>:${flag}>" "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=${flag}>")
  endforeach()
endfunction()

# Warnings are the host build's business: nvcc's intermediate code raises some of its own.
function(crossbow_add_warnings)
  foreach(flag IN LISTS ARGN)
    target_compile_options(crossbow_options INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${flag}>")
  endforeach()
endfunction()

crossbow_add_warnings(-Wall -Wextra)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 takes `"text" + std::string` for an overlapping copy (GCC bug 105651).
  crossbow_add_warnings(-Wno-restrict)
endif()
if(CROSSBOW_ARCH)
  crossbow_add_flags(-march=${CROSSBOW_ARCH})
endif()

# A newer compiler may warn of what the ones this was tried with do not; that must not keep a
# user from building. Nor may what GCC warns of only where a sanitizer's code is in between.
set(tried_GNU 13)
set(tried_Clang 15)
if(CROSSBOW_WERROR AND NOT CROSSBOW_SANITIZE AND
   CMAKE_CXX_COMPILER_VERSION VERSION_LESS "${tried_${CMAKE_CXX_COMPILER_ID}}")
  crossbow_add_warnings(-Werror)
endif()

# fmt 9 takes nvcc for a compiler without constexpr in one place and not in another.
target_compile_definitions(crossbow_options INTERFACE
  "$<$<COMPILE_LANGUAGE:CUDA>:FMT_USE_CONSTEXPR=1>")

if(CROSSBOW_CONTRACTS)
  target_compile_definitions(crossbow_options INTERFACE CROSSBOW_CONTRACTS)
endif()
if(CROSSBOW_SANITIZE)
  crossbow_add_flags(-fsanitize=${CROSSBOW_SANITIZE} -fno-omit-frame-pointer
                     -fno-sanitize-recover=all)
  target_link_options(crossbow_options INTERFACE -fsanitize=${CROSSBOW_SANITIZE})
  if(CROSSBOW_SANITIZE MATCHES "undefined")
    # Looked for at every access to a member, they take a third of the compiler's time, and
    # AddressSanitizer stops at a null pointer or a destroyed object, too.
    crossbow_add_flags(-fno-sanitize=null,vptr,object-size)
  endif()
endif()
