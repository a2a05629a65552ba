# Third-party code, as targets that modules name in LINK. Libraries are taken as static archives,
# so that the shared library needs only libc at run time.
#
#   varve::boost     Boost headers (Boost.JSON compiled in one of our files)
#   varve::xxhash    xxHash, inlined
#   varve::crypto    OpenSSL libcrypto.a
#   varve::utf8proc  libutf8proc.a
#   varve::stemmer   libstemmer.a
#   varve::cli11     CLI11 headers
find_package(Threads REQUIRED)

# varve_header_dependency(name header define...): headers only.
function(varve_header_dependency name header)
  string(TOUPPER "${name}" upper)
  find_path(VARVE_${upper}_INCLUDE_DIR ${header})
  mark_as_advanced(VARVE_${upper}_INCLUDE_DIR)
  add_library(varve_dep_${name} INTERFACE IMPORTED GLOBAL)
  add_library(varve::${name} ALIAS varve_dep_${name})
  if(NOT VARVE_${upper}_INCLUDE_DIR)
    set_property(GLOBAL APPEND PROPERTY VARVE_MISSING_DEPENDENCIES ${name})
    return()
  endif()
  target_include_directories(varve_dep_${name} SYSTEM INTERFACE ${VARVE_${upper}_INCLUDE_DIR})
  target_compile_definitions(varve_dep_${name} INTERFACE ${ARGN})
endfunction()

# varve_static_dependency(name header library): a static archive, `-l<library>` for our consumers.
function(varve_static_dependency name header library)
  string(TOUPPER "${name}" upper)
  find_path(VARVE_${upper}_INCLUDE_DIR ${header})
  find_library(VARVE_${upper}_ARCHIVE lib${library}.a)
  mark_as_advanced(VARVE_${upper}_INCLUDE_DIR VARVE_${upper}_ARCHIVE)
  add_library(varve_dep_${name} INTERFACE IMPORTED GLOBAL)
  add_library(varve::${name} ALIAS varve_dep_${name})
  set_target_properties(varve_dep_${name} PROPERTIES VARVE_CONSUMER_LIBRARY ${library})
  if(NOT VARVE_${upper}_INCLUDE_DIR OR NOT VARVE_${upper}_ARCHIVE)
    set_property(GLOBAL APPEND PROPERTY VARVE_MISSING_DEPENDENCIES ${name})
    return()
  endif()
  target_include_directories(varve_dep_${name} SYSTEM INTERFACE ${VARVE_${upper}_INCLUDE_DIR})
  target_link_libraries(varve_dep_${name} INTERFACE ${VARVE_${upper}_ARCHIVE} Threads::Threads)
endfunction()

varve_header_dependency(boost boost/json.hpp)
varve_header_dependency(xxhash xxhash.h XXH_INLINE_ALL=1)
varve_header_dependency(cli11 CLI/CLI.hpp)
varve_static_dependency(crypto openssl/sha.h crypto)
varve_static_dependency(utf8proc utf8proc.h utf8proc)
varve_static_dependency(stemmer libstemmer.h stemmer)
