# What the tests reach of the library.

# Program and what of it is run: all that everyday tests ask, the rigs at a part of their size. What
# is taken is counted in a file, so that of a process that is killed, or ends by _exit, is there; in
# one for each process, for two that count in one lose what they count at the same moment.
COVERAGE_TESTS=(
  "unit_io:*" "unit_log:*" "unit_session:*" "unit_store:*" "unit_stores:*" "unit_transfer:*"
  "unit_base:*" "unit_json:*" "unit_entry:*" "unit_decay:*" "unit_embedding:*" "unit_index:*"
  "unit_query:*" "unit_text:*" "unit_context:*" "unit_memory:*" "unit_capi:*"
  "capi:*" "fault_sweep:*" "simulation:*" "crash_limits:*" "allocation_sweep:*"
  "system_call_sweep:*"
  "crash_states:-*SeededDefects*:*AMissingSyncIsFound:*TheCanaryFindsWhatIsThere")

# Every fault of a call, for each is another branch; of the rest a part.
coverage_scale() {
  case $1 in
    fault_sweep) echo "${VARVE_CRASH_SCALE:-100}" ;;
    *) echo "${VARVE_CRASH_SCALE:-10}" ;;
  esac
}

# Prints branches taken per folder and per component. Less than coverage.py asks for is a violation,
# and what was never taken is in the log.
torture_coverage() {
  local pair name profiles=$PWD/build/coverage/profiles log=$torture_logs/coverage.log programs=()
  local -x LLVM_PROFILE_FILE=$profiles/%p-%m%c.profraw
  have llvm-cov-14 coverage && have llvm-profdata-14 coverage || return
  configure coverage && build coverage "${COVERAGE_TESTS[@]%%:*}" || return
  rm -rf "$profiles"
  for pair in "${COVERAGE_TESTS[@]}"; do
    name=$(find build/coverage/tests -type f -name "${pair%%:*}" -perm -u+x)
    programs+=("$name")
    VARVE_CRASH_SCALE=$(coverage_scale "${pair%%:*}") \
      run_tests "coverage-${pair%%:*}" 3600 "$name" "--gtest_filter=${pair#*:}"
  done
  llvm-profdata-14 merge -o build/coverage/all.profdata "$profiles" &&
    python3 scripts/lib/coverage.py . build/coverage/all.profdata "${programs[@]}" \
      build/coverage/libvarve.so >"$log" 2>&1 ||
    note_failure "coverage: too little, or it could not be told (see $log)"
  count_from "$log"
  grep -E '^(folder|component) ' "$log"
}
