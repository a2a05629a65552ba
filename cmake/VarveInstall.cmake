# What `cmake --install` puts where. The tree may be moved afterwards: nothing in it holds a prefix.
include(CMakePackageConfigHelpers)

install(DIRECTORY include/varve TYPE INCLUDE FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
install(FILES LICENSE LICENSE.third-party TYPE DOC)
if(EXISTS "${PROJECT_SOURCE_DIR}/docs/man/varve.1")
  install(FILES docs/man/varve.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endif()
set(completions "${PROJECT_SOURCE_DIR}/src/cli/completions")
if(EXISTS "${completions}/varve.bash")
  install(FILES ${completions}/varve.bash RENAME varve
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
endif()
if(EXISTS "${completions}/_varve")
  install(FILES ${completions}/_varve DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
endif()
if(EXISTS "${completions}/varve.fish")
  install(FILES ${completions}/varve.fish
    DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()

# An export of its own for each library: CMake refuses a package as soon as one file of an export is
# missing, and many distributions leave out static libraries.
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/varve)
install(TARGETS varve EXPORT varve_shared_targets)
install(TARGETS varve_static EXPORT varve_static_targets)
foreach(kind IN ITEMS shared static)
  install(EXPORT varve_${kind}_targets NAMESPACE varve:: FILE varve-${kind}-targets.cmake
    DESTINATION ${package_dir})
endforeach()
get_target_property(library_version varve VERSION)
set(VARVE_SHARED_FILE
  ${CMAKE_SHARED_LIBRARY_PREFIX}varve${CMAKE_SHARED_LIBRARY_SUFFIX}.${library_version})
set(VARVE_STATIC_FILE ${CMAKE_STATIC_LIBRARY_PREFIX}varve${CMAKE_STATIC_LIBRARY_SUFFIX})
configure_package_config_file(cmake/varve-config.cmake.in
  ${PROJECT_BINARY_DIR}/varve-config.cmake INSTALL_DESTINATION ${package_dir}
  PATH_VARS CMAKE_INSTALL_LIBDIR)
# Before 1.0 a release may break the ABI.
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(VARVE_COMPATIBLE SameMinorVersion)
else()
  set(VARVE_COMPATIBLE SameMajorVersion)
endif()
write_basic_package_version_file(${PROJECT_BINARY_DIR}/varve-config-version.cmake
  COMPATIBILITY ${VARVE_COMPATIBLE})
install(FILES
  ${PROJECT_BINARY_DIR}/varve-config.cmake
  ${PROJECT_BINARY_DIR}/varve-config-version.cmake
  DESTINATION ${package_dir})

# pkg-config: the prefix is found from where the file lies. An absolute directory stays absolute.
function(varve_pc_directory install_dir out)
  if(IS_ABSOLUTE "${install_dir}")
    set(${out} "${install_dir}" PARENT_SCOPE)
  else()
    set(${out} "\${prefix}/${install_dir}" PARENT_SCOPE)
  endif()
endfunction()
cmake_path(APPEND CMAKE_INSTALL_LIBDIR pkgconfig OUTPUT_VARIABLE pc_dir)
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  set(VARVE_PC_PREFIX "${CMAKE_INSTALL_PREFIX}")
else()
  file(RELATIVE_PATH up "/prefix/${pc_dir}" "/prefix")
  string(REGEX REPLACE "/$" "" up "${up}")
  set(VARVE_PC_PREFIX "\${pcfiledir}/${up}")
endif()
varve_pc_directory("${CMAKE_INSTALL_LIBDIR}" VARVE_PC_LIBDIR)
varve_pc_directory("${CMAKE_INSTALL_INCLUDEDIR}" VARVE_PC_INCLUDEDIR)
get_property(libraries GLOBAL PROPERTY VARVE_MODULE_LIBRARIES)
varve_consumer_libraries("${libraries}" names)
list(TRANSFORM names PREPEND "-l")
list(JOIN names " " VARVE_PC_LIBS_PRIVATE)
foreach(package IN ITEMS varve varve-static)
  configure_file(pkgconfig/${package}.pc.in ${PROJECT_BINARY_DIR}/${package}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${package}.pc DESTINATION ${pc_dir})
endforeach()
