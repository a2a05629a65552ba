# How tests are declared.
# CTest labels: unit capi cli conformance crash fuzz install abi lint bench-smoke bindings.
find_package(GTest REQUIRED)
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
set(VARVE_TEST_TIMEOUT_S 300 CACHE STRING "Seconds until a test counts as hung")
# Sanitized programs are several times slower.
set(VARVE_TEST_ENVIRONMENT
  "ASAN_OPTIONS=detect_leaks=1:abort_on_error=0:allocator_may_return_null=1"
  "UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1"
  "TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1"
  CACHE INTERNAL "")

# varve_add_test(NAME <name> COMMAND <command>... | SCRIPT <file> <argument>... LABELS <label>...
#                [TIMEOUT_S <s>] [SERIAL] [ENVIRONMENT <var=value>...])
#
# SCRIPT is a Python program of the current folder. A test that ends with 77 lacks a tool: it is
# skipped, and counts as failed where CI is set.
function(varve_add_test)
  cmake_parse_arguments(
    PARSE_ARGV 0 arg "SERIAL" "NAME;TIMEOUT_S" "COMMAND;SCRIPT;LABELS;ENVIRONMENT")
  if(NOT arg_LABELS)
    message(FATAL_ERROR "varve_add_test(${arg_NAME}): LABELS is missing")
  endif()
  if(NOT arg_TIMEOUT_S)
    set(arg_TIMEOUT_S ${VARVE_TEST_TIMEOUT_S})
  endif()
  if(arg_SCRIPT)
    list(TRANSFORM arg_SCRIPT PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/" AT 0)
    set(arg_COMMAND Python3::Interpreter -B ${arg_SCRIPT})
  endif()
  add_test(NAME ${arg_NAME} COMMAND ${arg_COMMAND})
  set_tests_properties(${arg_NAME} PROPERTIES
    LABELS "${arg_LABELS}"
    TIMEOUT ${arg_TIMEOUT_S}
    SKIP_RETURN_CODE 77
    ENVIRONMENT "${VARVE_TEST_ENVIRONMENT};${arg_ENVIRONMENT}")
  if(arg_SERIAL)
    set_tests_properties(${arg_NAME} PROPERTIES RUN_SERIAL ON)
  endif()
endfunction()

# varve_script_tests(<prefix> [EXCEPT <name>...] LABELS <label>... [ENVIRONMENT <var=value>...])
#
# Each <name>_test.py of the current folder as <prefix>_<name>.
function(varve_script_tests prefix)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "EXCEPT;LABELS;ENVIRONMENT")
  file(GLOB scripts CONFIGURE_DEPENDS RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}"
    "${CMAKE_CURRENT_SOURCE_DIR}/*_test.py")
  foreach(script IN LISTS scripts)
    string(REPLACE "_test.py" "" name "${script}")
    if(NOT name IN_LIST arg_EXCEPT)
      varve_add_test(NAME ${prefix}_${name} SCRIPT ${script}
        LABELS ${arg_LABELS} ENVIRONMENT ${arg_ENVIRONMENT})
    endif()
  endforeach()
endfunction()

# varve_gtest(<name> SOURCES <file>... [LINK <target>...] [LABELS <label>...] [SHARDS <n>]
#             [TIMEOUT_S <s>] [SERIAL] [RTTI])
#
# One executable, one CTest entry; with SHARDS n entries that run in parallel.
function(varve_gtest name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "SERIAL;RTTI" "SHARDS;TIMEOUT_S" "SOURCES;LINK;LABELS")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_SOURCES)
    message(FATAL_ERROR "varve_gtest(${name}): SOURCES is missing, or these are unknown: "
      "${arg_UNPARSED_ARGUMENTS}")
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  if(NOT arg_RTTI)
    # The same as the library: a test's class may derive from one of ours.
    target_compile_options(${name} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:-fno-rtti>")
  endif()
  # What is tested is optimised; the tests themselves need to compile fast.
  target_compile_options(${name} PRIVATE "$<$<CONFIG:RelWithDebInfo>:-O1;-g1>")
  if(VARVE_SANITIZE)  # optimising what a sanitizer adds takes three times as long as compiling it
    target_compile_options(${name} PRIVATE -O0)
  endif()
  target_link_libraries(${name} PRIVATE
    ${arg_LINK} GTest::gtest_main varve_warnings varve_build_flags)
  set(options "")
  if(arg_SERIAL)
    list(APPEND options SERIAL)
  endif()
  if(arg_TIMEOUT_S)
    list(APPEND options TIMEOUT_S ${arg_TIMEOUT_S})
  endif()
  if(NOT arg_SHARDS OR arg_SHARDS LESS_EQUAL 1)
    varve_add_test(NAME ${name} COMMAND ${name} --gtest_brief=1 LABELS ${arg_LABELS} ${options})
    return()
  endif()
  math(EXPR last "${arg_SHARDS} - 1")
  foreach(shard RANGE ${last})
    varve_add_test(NAME ${name}_${shard} COMMAND ${name} --gtest_brief=1 LABELS ${arg_LABELS}
      ENVIRONMENT GTEST_TOTAL_SHARDS=${arg_SHARDS} GTEST_SHARD_INDEX=${shard} ${options})
  endforeach()
endfunction()

# varve_unit_tests(<folder> [LINK <target>...] [SHARDS <n>])
#
# All tests/unit/<folder>/*_test.cpp as the executable unit_<folder>.
function(varve_unit_tests folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SHARDS" "LINK")
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/unit/${folder}/*_test.cpp")
  if(NOT sources)
    message(FATAL_ERROR "varve_unit_tests(${folder}): no tests/unit/${folder}/*_test.cpp")
  endif()
  varve_gtest(unit_${folder} SOURCES ${sources} LINK ${arg_LINK} LABELS unit SHARDS "${arg_SHARDS}")
endfunction()
