# varve_add_libraries(): libvarve.so and libvarve.a out of all modules.
function(varve_add_libraries)
  get_property(modules GLOBAL PROPERTY VARVE_MODULES)
  get_property(libraries GLOBAL PROPERTY VARVE_MODULE_LIBRARIES)
  list(REMOVE_DUPLICATES libraries)
  list(TRANSFORM modules REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE objects)
  varve_add_shared_library("${objects}" "${libraries}")
  varve_add_static_library("${objects}" "${libraries}")
endfunction()

function(varve_public_headers target)
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endfunction()

function(varve_add_shared_library objects libraries)
  add_library(varve SHARED ${objects})
  add_library(varve::varve ALIAS varve)
  varve_public_headers(varve)
  set_target_properties(varve PROPERTIES
    LINKER_LANGUAGE CXX
    VERSION ${VARVE_ABI_VERSION}.${PROJECT_VERSION}
    SOVERSION ${VARVE_ABI_VERSION})
  set(map "${PROJECT_SOURCE_DIR}/src/capi/varve.map")
  set_property(TARGET varve APPEND PROPERTY LINK_DEPENDS "${map}")
  target_link_options(varve PRIVATE
    "LINKER:--version-script=${map}"
    LINKER:-z,nodelete LINKER:-z,now LINKER:-z,relro LINKER:-z,noexecstack
    LINKER:--gc-sections LINKER:-Bsymbolic LINKER:--exclude-libs,ALL LINKER:--as-needed)
  if(NOT VARVE_SANITIZE)
    # A sanitizer's run-time comes from the program and must be the only one.
    # Vtables name __cxa_pure_virtual weakly, which takes nothing out of an archive: it would be
    # bound to the host's, where the host has one.
    target_link_options(varve PRIVATE LINKER:-z,defs LINKER:-u,__cxa_pure_virtual)
    if(NOT VARVE_SHARED_DEPENDENCIES)
      target_link_options(varve PRIVATE -static-libstdc++ -static-libgcc)
    endif()
  endif()
  target_link_libraries(varve PRIVATE
    $<BUILD_INTERFACE:varve_build_flags> ${libraries} Threads::Threads)
endfunction()

# The archive holds our objects; what they need comes from the system (Libs.private, and the
# install interface below), so that a program can share one libcrypto with us.
function(varve_add_static_library objects libraries)
  add_library(varve_static STATIC ${objects})
  add_library(varve::varve_static ALIAS varve_static)
  varve_public_headers(varve_static)
  set_target_properties(varve_static PROPERTIES LINKER_LANGUAGE CXX OUTPUT_NAME varve)
  varve_consumer_libraries("${libraries}" consumer)
  varve_runtime_libraries(runtime)
  target_link_libraries(varve_static
    PRIVATE $<BUILD_INTERFACE:varve_build_flags>
    INTERFACE "$<BUILD_INTERFACE:${libraries};${runtime}>" "$<INSTALL_INTERFACE:${consumer}>")
endfunction()

# The C++ run-time and the threads, as the linker of a program in C is to be told of them.
function(varve_runtime_libraries out)
  set(runtime ${CMAKE_CXX_IMPLICIT_LINK_LIBRARIES})
  list(REMOVE_ITEM runtime ${CMAKE_C_IMPLICIT_LINK_LIBRARIES} "")
  set(${out} ${runtime} pthread PARENT_SCOPE)
endfunction()

# The -l names that a program linking libvarve.a needs, C++ run-time included.
function(varve_consumer_libraries libraries out)
  set(names "")
  foreach(library IN LISTS libraries)
    get_target_property(name ${library} VARVE_CONSUMER_LIBRARY)
    if(name)
      list(APPEND names ${name})
    endif()
  endforeach()
  varve_runtime_libraries(runtime)
  list(APPEND names ${runtime})
  list(REMOVE_DUPLICATES names)
  set(${out} "${names}" PARENT_SCOPE)
endfunction()
