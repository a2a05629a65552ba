# varve_add_folder(folder): add_subdirectory, when the folder has a CMakeLists.txt.
function(varve_add_folder folder)
  set(lists "${PROJECT_SOURCE_DIR}/${folder}/CMakeLists.txt")
  set_property(DIRECTORY "${PROJECT_SOURCE_DIR}" APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${lists}")
  if(EXISTS "${lists}")
    add_subdirectory("${PROJECT_SOURCE_DIR}/${folder}" "${PROJECT_BINARY_DIR}/${folder}")
  endif()
endfunction()

# varve_module(<name> SOURCES <file>... [DEPENDS <module>...] [LINK <library>...] [RTTI]
#              [TEST_ONLY])
#
# Makes the static library varve_<name> out of one folder of src/, with the headers of src/ and
# include/. DEPENDS names lower modules (`base`, not `varve_base`) that our headers include; LINK
# names third-party targets of VarveDependencies.cmake. Every module becomes part of libvarve,
# except a TEST_ONLY one, which only the tests link.
function(varve_module name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "RTTI;TEST_ONLY" "" "SOURCES;DEPENDS;LINK")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_SOURCES)
    message(FATAL_ERROR "varve_module(${name}): SOURCES is missing, or these are unknown: "
      "${arg_UNPARSED_ARGUMENTS}")
  endif()
  foreach(module IN LISTS arg_DEPENDS)
    if(NOT TARGET varve_${module})
      message(FATAL_ERROR "varve_module(${name}) depends on ${module}, which is no lower module.")
    endif()
  endforeach()
  set(target varve_${name})
  add_library(${target} STATIC ${arg_SOURCES})
  target_include_directories(${target} PUBLIC
    ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  if(NOT arg_RTTI)
    target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:-fno-rtti>")
  endif()
  list(TRANSFORM arg_DEPENDS PREPEND varve_ OUTPUT_VARIABLE modules)
  target_link_libraries(${target}
    PUBLIC ${modules} ${arg_LINK}
    PRIVATE $<BUILD_INTERFACE:varve_warnings> $<BUILD_INTERFACE:varve_build_flags>)
  if(arg_TEST_ONLY)
    set_property(GLOBAL APPEND PROPERTY VARVE_TEST_MODULES ${target})
    return()
  endif()
  set_property(GLOBAL APPEND PROPERTY VARVE_MODULES ${target})
  set_property(GLOBAL APPEND PROPERTY VARVE_MODULE_LIBRARIES ${arg_LINK})
endfunction()
