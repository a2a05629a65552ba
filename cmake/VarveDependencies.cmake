# Third-party code, as targets that modules name in LINK. Libraries are taken as static archives,
# so that the shared library needs only libc at run time.
#
#   varve::boost     Boost headers (Boost.JSON compiled in one of our files)
#   varve::xxhash    xxHash, inlined
#   varve::crypto    OpenSSL libcrypto.a
#   varve::utf8proc  libutf8proc.a
#   varve::stemmer   libstemmer.a
#   varve::cli11     CLI11 headers, for the command line program
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

# varve_static_dependency(name title header library): a static archive, `-l<library>` for our
# consumers.
function(varve_static_dependency name title header library)
  string(TOUPPER "${name}" upper)
  find_path(VARVE_${upper}_INCLUDE_DIR ${header})
  find_library(VARVE_${upper}_ARCHIVE lib${library}.a)
  mark_as_advanced(VARVE_${upper}_INCLUDE_DIR VARVE_${upper}_ARCHIVE)
  if(NOT VARVE_${upper}_INCLUDE_DIR OR NOT VARVE_${upper}_ARCHIVE)
    set(varve_missing "${varve_missing}\n  ${title}: ${header}, lib${library}.a" PARENT_SCOPE)
    return()
  endif()
  add_library(varve_dep_${name} INTERFACE IMPORTED GLOBAL)
  add_library(varve::${name} ALIAS varve_dep_${name})
  set_target_properties(varve_dep_${name} PROPERTIES VARVE_CONSUMER_LIBRARY ${library})
  target_include_directories(varve_dep_${name} SYSTEM INTERFACE ${VARVE_${upper}_INCLUDE_DIR})
  target_link_libraries(varve_dep_${name} INTERFACE ${VARVE_${upper}_ARCHIVE} Threads::Threads)
endfunction()

varve_header_dependency(boost "Boost 1.81 or later" boost/json.hpp)
varve_header_dependency(xxhash "xxHash" xxhash.h XXH_INLINE_ALL=1)
if(VARVE_BUILD_CLI)
  varve_header_dependency(cli11 "CLI11, for the command line (VARVE_BUILD_CLI)" CLI/CLI.hpp)
endif()
varve_static_dependency(crypto "OpenSSL" openssl/sha.h crypto)
varve_static_dependency(utf8proc "utf8proc" utf8proc.h utf8proc)
varve_static_dependency(stemmer "Snowball" libstemmer.h stemmer)
if(varve_missing)
  message(FATAL_ERROR "varve is built from libraries that were not found here:${varve_missing}\n"
    "scripts/lib/setup.sh lists their packages.")
endif()
