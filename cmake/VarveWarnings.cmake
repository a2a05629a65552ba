# varve_warnings: link it (PRIVATE) to compile with every warning. Our presets make them errors; for
# who only installs varve, perhaps with a compiler newer than ours, they stay warnings.
add_library(varve_warnings INTERFACE)
set(varve_warnings_both -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion
  -Wcast-align -Wformat=2 -Wundef -Wimplicit-fallthrough)
set(varve_warnings_cxx -Wold-style-cast -Wnon-virtual-dtor -Woverloaded-virtual)
# gcc 12 at -O3 sees overlaps in std::string that are not there (its bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  list(APPEND varve_warnings_cxx -Wno-restrict)
endif()
set(varve_warnings_c -Wstrict-prototypes -Wmissing-prototypes)
target_compile_options(varve_warnings INTERFACE
  ${varve_warnings_both}
  "$<$<COMPILE_LANGUAGE:CXX>:${varve_warnings_cxx}>"
  "$<$<COMPILE_LANGUAGE:C>:${varve_warnings_c}>")
option(VARVE_WARNINGS_AS_ERRORS "Treat warnings as errors" OFF)
if(VARVE_WARNINGS_AS_ERRORS)
  target_compile_options(varve_warnings INTERFACE -Werror)
endif()
