# Shared by scripts/test and scripts/torture; to be sourced by bash after setup.sh. Builds presets
# into build/PRESET, runs their tests, and counts what passed, failed, and could not be run.

jobs=$(job_count)
passed=0
failed=0
failures=()
not_run=()
without_aslr=()

# note_failure TEXT: counts one failure that is not a test's.
note_failure() {
  failed=$((failed + 1))
  failures+=("$1")
  say "FAILED: $1"
}

# note_not_run TEXT: something could not be run for want of a tool.
note_not_run() {
  if [ -n "${CI:-}" ]; then
    note_failure "not run: $1"
  else
    not_run+=("$1")
    say "not run: $1"
  fi
}

# print_failures WORD: what the counts at the end stand for; each failure is called by the word.
print_failures() {
  local line
  end_of_step
  printf '\n=== Summary (%d min %d s)\n' $((SECONDS / 60)) $((SECONDS % 60))
  for line in "${failures[@]}"; do
    say "$1: $line"
  done
  for line in "${not_run[@]}"; do
    say "not run: $line"
  done
}

# count_results FILE: adds up what CTest wrote.
count_results() {
  local suite tests failures_here skipped disabled name
  suite=$(grep -m1 -A7 '<testsuite ' "$1" | tr '\n\t' '  ')
  attribute() { printf '%s' "$suite" | sed -n "s/.* $1=\"\([0-9]*\)\".*/\1/p"; }
  tests=$(attribute tests)
  failures_here=$(attribute failures)
  skipped=$(attribute skipped)
  disabled=$(attribute disabled)
  passed=$((passed + tests - failures_here - skipped - disabled))
  failed=$((failed + failures_here))
  while read -r name; do
    failures+=("$2: $name")
  done < <(sed -n 's/.*<testcase name="\([^"]*\)".*status="fail".*/\1/p' "$1")
  while read -r name; do
    note_not_run "$2: $name"
  done < <(sed -n 's/.*<testcase name="\([^"]*\)".*status="\(notrun\|disabled\)".*/\1/p' "$1")
}

# Where the stores of tests are: in memory when there is room. What they try of a disk they make
# themselves, or simulate; what is left is waiting for this one, minutes of it.
memory_folder=/dev/shm
memory_wanted_kib=$((1024 * 1024))

# in_memory COMMAND...: runs it with its temporary files there.
in_memory() {
  local free_kib
  free_kib=$(df --output=avail "$memory_folder" 2>/dev/null | tail -n 1)
  if [ -n "${TMPDIR:-}" ] || [ ! -w "$memory_folder" ] ||
    [ "${free_kib:-0}" -lt "$memory_wanted_kib" ]; then
    "$@"
  else
    TMPDIR=$memory_folder "$@"
  fi
}

# run_ctest PRESET ARGUMENTS...
run_ctest() {
  local preset=$1 results
  shift
  results=$PWD/build/$preset/results.xml
  rm -f "$results"
  "${without_aslr[@]}" ctest --test-dir "build/$preset" -j "$jobs" --output-on-failure \
    --no-tests=error --output-junit "$results" "$@"
  if [ -s "$results" ]; then
    count_results "$results" "$preset"
  else
    note_failure "ctest in build/$preset ($*)"
  fi
}

# configure PRESET ARGUMENTS...
configure() {
  local preset=$1
  shift
  cmake --preset "$preset" "$@" >"build/$preset.configure.log" 2>&1 && return 0
  cat "build/$preset.configure.log"
  note_failure "configuring $preset"
  return 1
}

# build PRESET [TARGET...]
build() {
  local preset=$1
  shift
  cmake --build "build/$preset" -j "$jobs" ${1:+--target "$@"} -- -k 0 \
    >"build/$preset.build.log" 2>&1 && {
    say "$(grep -c '^\[' "build/$preset.build.log") steps"
    return 0
  }
  grep -v '^\[' "build/$preset.build.log" | head -n 200
  note_failure "building $preset"
  return 1
}

# Sanitizers of this age cannot place their shadow memory under strong randomisation.
prepare_sanitizers() {
  if setarch "$(uname -m)" -R true 2>/dev/null; then
    without_aslr=(setarch "$(uname -m)" -R)
  fi
}

# clang when there is one: a second opinion on the warnings.
use_clang() {
  if command -v clang++-14 >/dev/null; then
    export CC=clang-14 CXX=clang++-14
  else
    note_not_run "address sanitizer with clang-14 (gcc is used instead)"
  fi
}

# gcc's thread sanitizer is a shared library, so a test may replace operator new.
use_gcc() {
  export CC=gcc CXX=g++
}

# targets_of PRESET ARGUMENTS...: the programs of the tests that ctest would run. A test is named
# after its program, with the shard's number behind it; what is no program, as a clean-up, is left
# out.
targets_of() {
  local preset=$1
  shift
  comm -12 \
    <(ctest --test-dir "build/$preset" -N "$@" |
      sed -n 's/^ *Test *#[0-9]*: \(.*\)/\1/p' | sed 's/_[0-9]*$//' | sort -u) \
    <(ninja -C "build/$preset" -t targets all | sed 's/: .*//' | sort -u)
}

# run_sanitized PRESET ARGUMENTS...: builds and runs the tests that the arguments name.
run_sanitized() {
  local preset=$1 targets
  shift
  configure "$preset" -DVARVE_BUILD_CLI=OFF || return
  mapfile -t targets < <(targets_of "$preset" "$@")
  if [ ${#targets[@]} -eq 0 ]; then
    note_failure "no test matches $* in build/$preset"
    return
  fi
  build "$preset" "${targets[@]}" || return
  heading "Tests in build/$preset: ${targets[*]}"
  in_memory run_ctest "$preset" "$@"
}

# test_address_sanitizer LABELS
test_address_sanitizer() {
  heading "Build: address and undefined behaviour sanitizers, clang (build/asan)"
  use_clang
  run_sanitized asan -L "$1"
}

# Not the simulation: its processes take turns in one thread, one within another's wait, and their
# mutexes are not one process'.
test_thread_sanitizer() {
  heading "Build: thread sanitizer, gcc (build/tsan)"
  use_gcc
  run_sanitized tsan -R '^(unit_|capi|threads)'
}
