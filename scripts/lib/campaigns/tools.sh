# Campaigns of tools that watch the program: fuzzers, sanitizers, valgrind.

# Each target for its part of the time; as many at once as there are jobs.
torture_fuzz() {
  local sources=(tests/fuzz/*_fuzz.cpp) targets=() seconds at
  have clang++-14 fuzz || return
  mapfile -t targets < <(basename -s .cpp "${sources[@]}")
  prepare_sanitizers
  configure fuzz -DVARVE_BUILD_CLI=OFF && build fuzz "${targets[@]}" || return
  seconds=$(($1 * jobs / ${#targets[@]}))
  for ((at = 0; at < ${#targets[@]}; at += jobs)); do
    start_row
    fuzz_together $((seconds > 1 ? seconds : 1)) "${targets[@]:at:jobs}"
  done
}

# fuzz_together SECONDS TARGET...
fuzz_together() {
  local seconds=$1 target i statuses=() names=("${@:2}")
  children=()
  for target in "${names[@]}"; do
    fuzz_one "$seconds" "$target" >"$torture_logs/$target.log" 2>&1 &
    children+=($!)
  done
  for i in "${!children[@]}"; do
    wait "${children[i]}"
    statuses+=($?)
  done
  children=()
  for i in "${!names[@]}"; do
    take_fuzz "${names[i]}" "${statuses[i]}"
  done
}

# fuzz_one SECONDS TARGET: replaces the process that calls it, so that its id is the fuzzer's. What
# would take most of the time is left out: statistics of what is rare, and where each allocation was
# made, which running an input by itself tells.
fuzz_one() {
  local noun=${2%_fuzz} folder=build/fuzz/tests/fuzz
  export ASAN_OPTIONS=${ASAN_OPTIONS:-malloc_context_size=0:quarantine_size_mb=8}
  exec "${without_aslr[@]}" "$folder/$2" -max_total_time="$1" -print_final_stats=1 \
    -rss_limit_mb=512 -timeout=5 -max_len=32768 -entropic=0 \
    -artifact_prefix="$torture_logs/$2." \
    "$folder/$noun" "tests/fuzz/corpus/$noun"
}

# take_fuzz TARGET EXIT_STATUS
take_fuzz() {
  local log=$torture_logs/$1.log executions artifact
  executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  count executions "${executions:-0}"
  if [ "$2" -ne 0 ]; then
    artifact=$(sed -n 's/.*Test unit written to //p' "$log")
    note_failure "$1: ended with $2 on ${artifact:-an unknown input} (see $log)"
  fi
  row "fuzz ${1%_fuzz}"
}

# count_programs FUNCTION ARGUMENTS...: what CTest ran, as test programs and shards of them.
count_programs() {
  local passed_before=$passed
  "$@" >"$torture_logs/$1.log" 2>&1
  count "test programs passed" $((passed - passed_before))
}

torture_asan() {
  prepare_sanitizers
  count_programs test_address_sanitizer '^(unit|capi|crash|fuzz)$'
}

torture_tsan() {
  prepare_sanitizers
  count_programs test_thread_sanitizer
}

# The unit tests, and of the ABI what does not count on speed; programs and what of them is run. Not
# what valgrind does not do as the kernel does: denied system calls, and a fork beside threads, of
# which the child is said to leak what they had. Nor lines of a gigabyte.
VALGRIND_TESTS=(
  "unit_base:*" "unit_capi:-*ForkWhileOtherThreads*" "unit_context:*" "unit_decay:*"
  "unit_embedding:*" "unit_entry:*" "unit_index:*"
  "unit_io:-*WhileOthersFork:*EveryFailedSystemCallIsTold:*AWriteOfNothingIsAnError*"
  "unit_json:*" "unit_log:-LineReader*Oversized*:Scan.ALineLongerThanAny*" "unit_memory:*"
  "unit_query:*" "unit_session:*" "unit_store:*" "unit_stores:*" "unit_text:*" "unit_transfer:*"
  "simulation:*"
  "capi:Handles*:Errors.*:Entries.*:Session*:TextArguments*:StoreOpen*:Threads*")

# Built with less optimisation, in which no value is looked at before it is known to be there. Some
# 30 times slower than without: what is tried at every byte is tried at a part of them. Tests with
# an operator new of their own keep it.
torture_valgrind() {
  local pair name stores=${TMPDIR:-/tmp}
  local -x VARVE_CRASH_SCALE=${VARVE_CRASH_SCALE:-4} VARVE_CUT_STEP=${VARVE_CUT_STEP:-29}
  local -x VARVE_FLIP_STEP=${VARVE_FLIP_STEP:-997} VARVE_SIMULATION_SEEDS=20
  have valgrind valgrind || return
  [ -n "${TMPDIR:-}" ] || [ ! -w /dev/shm ] || stores=/dev/shm
  use_gcc
  configure valgrind && build valgrind "${VALGRIND_TESTS[@]%%:*}" || return
  for pair in "${VALGRIND_TESTS[@]}"; do
    name=${pair%%:*}
    TMPDIR=$stores run_tests "valgrind-$name" 7200 \
      valgrind --quiet --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite \
      --soname-synonyms=somalloc=nouserintercepts \
      "$(find build/valgrind/tests -type f -name "$name" -perm -u+x)" "--gtest_filter=${pair#*:}"
  done
}
