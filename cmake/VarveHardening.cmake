# varve_build_flags: code generation shared by the library, the programs and the tests.
add_library(varve_build_flags INTERFACE)
target_compile_options(varve_build_flags INTERFACE
  -fvisibility=hidden
  "$<$<COMPILE_LANGUAGE:CXX>:-fvisibility-inlines-hidden>"
  -ffunction-sections -fdata-sections
  -fstack-protector-strong -fstack-clash-protection
  # A score must come out the same wherever it is computed: who skips rows, or goes on behind the
  # last result of a page, compares it with one from elsewhere. A product and a sum in one
  # instruction, as compilers choose it here and there for aarch64, has other last digits.
  -ffp-contract=off
  "-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=")

if(VARVE_BUILD_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "VARVE_BUILD_FUZZ needs clang (libFuzzer); use the preset fuzz.")
  endif()
  target_compile_options(varve_build_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

if(VARVE_SANITIZE)
  set(varve_sanitize_flags -fsanitize=${VARVE_SANITIZE} -fno-omit-frame-pointer)
  if(VARVE_SANITIZE MATCHES "undefined")
    # vptr needs RTTI, which the library is built without; function needs a C++ run-time, which
    # clang does not link to programs in C.
    list(APPEND varve_sanitize_flags -fno-sanitize=vptr -fno-sanitize-recover=undefined)
    if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
      list(APPEND varve_sanitize_flags -fno-sanitize=function)
    endif()
  endif()
  target_compile_options(varve_build_flags INTERFACE ${varve_sanitize_flags})
  target_link_options(varve_build_flags INTERFACE ${varve_sanitize_flags})
elseif(NOT "${CMAKE_C_FLAGS} ${CMAKE_CXX_FLAGS}" MATCHES "_FORTIFY_SOURCE")
  # Not with a sanitizer, since each hides errors from the other; and a distribution that has a
  # level of its own in CXXFLAGS keeps it.
  target_compile_options(varve_build_flags INTERFACE
    "$<$<CONFIG:Release,RelWithDebInfo,MinSizeRel>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=2>")
endif()
