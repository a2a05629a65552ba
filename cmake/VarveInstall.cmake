# What `cmake --install` puts where. The tree may be moved afterwards: nothing in it holds a prefix.
include(CMakePackageConfigHelpers)

install(DIRECTORY include/varve TYPE INCLUDE FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
install(FILES LICENSE TYPE DOC)
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

install(TARGETS varve varve_static EXPORT varve_targets)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/varve)
install(EXPORT varve_targets NAMESPACE varve:: FILE varve-targets.cmake DESTINATION ${package_dir})
configure_package_config_file(cmake/varve-config.cmake.in
  ${PROJECT_BINARY_DIR}/varve-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/varve-config-version.cmake
  COMPATIBILITY SameMajorVersion)
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
