# Uses ccache when it is installed and no launcher was chosen.
if(PROJECT_IS_TOP_LEVEL AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(VARVE_CCACHE ccache)
  mark_as_advanced(VARVE_CCACHE)
  if(VARVE_CCACHE)
    set(CMAKE_C_COMPILER_LAUNCHER ${VARVE_CCACHE})
    set(CMAKE_CXX_COMPILER_LAUNCHER ${VARVE_CCACHE})
  endif()
endif()
