# Third-party code, as targets that modules name in LINK. Libraries are taken as static archives,
# so that the shared library needs only libc at run time; a distribution, which mends each library
# in one place, has them shared (docs/packaging.md).
#
#   varve::boost     Boost headers (Boost.JSON compiled in one of our files)
#   varve::xxhash    xxHash, inlined
#   varve::crypto    OpenSSL libcrypto.a
#   varve::utf8proc  libutf8proc.a
#   varve::stemmer   libstemmer.a
#   varve::cli11     CLI11 headers, for the command line program
option(VARVE_SHARED_DEPENDENCIES
  "Take libcrypto, utf8proc, libstemmer and the C++ run-time as shared libraries" OFF)
find_package(Threads REQUIRED)
set(varve_missing "")

# varve_header_dependency(name title header define...): headers only.
function(varve_header_dependency name title header)
  string(TOUPPER "${name}" upper)
  find_path(VARVE_${upper}_INCLUDE_DIR ${header})
  mark_as_advanced(VARVE_${upper}_INCLUDE_DIR)
  if(NOT VARVE_${upper}_INCLUDE_DIR)
    set(varve_missing "${varve_missing}\n  ${title}: ${header}" PARENT_SCOPE)
    return()
  endif()
  add_library(varve_dep_${name} INTERFACE IMPORTED GLOBAL)
  add_library(varve::${name} ALIAS varve_dep_${name})
  target_include_directories(varve_dep_${name} SYSTEM INTERFACE ${VARVE_${upper}_INCLUDE_DIR})
  target_compile_definitions(varve_dep_${name} INTERFACE ${ARGN})
endfunction()

# varve_library_dependency(name title header library): a static archive, or a shared library where
# those are asked for; `-l<library>` for our consumers.
function(varve_library_dependency name title header library)
  string(TOUPPER "${name}" upper)
  if(VARVE_SHARED_DEPENDENCIES)
    set(place VARVE_${upper}_SHARED)
    set(file lib${library}.so)
  else()
    set(place VARVE_${upper}_ARCHIVE)
    set(file lib${library}.a)
  endif()
  find_path(VARVE_${upper}_INCLUDE_DIR ${header})
  find_library(${place} ${file})
  mark_as_advanced(VARVE_${upper}_INCLUDE_DIR ${place})
  if(NOT VARVE_${upper}_INCLUDE_DIR OR NOT ${place})
    set(varve_missing "${varve_missing}\n  ${title}: ${header}, ${file}" PARENT_SCOPE)
    return()
  endif()
  add_library(varve_dep_${name} INTERFACE IMPORTED GLOBAL)
  add_library(varve::${name} ALIAS varve_dep_${name})
  set_target_properties(varve_dep_${name} PROPERTIES VARVE_CONSUMER_LIBRARY ${library})
  target_include_directories(varve_dep_${name} SYSTEM INTERFACE ${VARVE_${upper}_INCLUDE_DIR})
  target_link_libraries(varve_dep_${name} INTERFACE ${${place}} Threads::Threads)
endfunction()

varve_header_dependency(boost "Boost 1.81 or later" boost/json.hpp)
varve_header_dependency(xxhash "xxHash" xxhash.h XXH_INLINE_ALL=1)
if(VARVE_BUILD_CLI)
  varve_header_dependency(cli11 "CLI11, for the command line (VARVE_BUILD_CLI)" CLI/CLI.hpp)
endif()
varve_library_dependency(crypto "OpenSSL" openssl/sha.h crypto)
varve_library_dependency(utf8proc "utf8proc" utf8proc.h utf8proc)
varve_library_dependency(stemmer "Snowball" libstemmer.h stemmer)
if(varve_missing)
  message(FATAL_ERROR "varve is built from libraries that were not found here:${varve_missing}\n"
    "docs/packaging.md lists their packages, and VARVE_SHARED_DEPENDENCIES takes shared libraries.")
endif()
