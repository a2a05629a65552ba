# Campaigns on real files, with real processes and the limits of the system.

# Killed at every system call once, and beside many others of one large store; then over and over in
# small stores until the time is used up. Those lie in memory, where a kill costs least: what the
# disk does with it, a kill does not touch.
torture_kills() {
  local end_s=$((SECONDS + $1)) program=build/ci/tests/crash/crash_processes
  local small_stores=${TMPDIR:-/tmp}
  build_tests crash_processes || return
  have strace kills && run_tests kills-at-calls 3600 "$program" --gtest_filter='*AtEveryCall*'
  run_tests kills 3600 "$program" \
    --gtest_filter='Processes.*:*KilledOverAndOver*:Lifecycle*:Stores*'
  [ -n "${TMPDIR:-}" ] || [ ! -w /dev/shm ] || small_stores=/dev/shm
  local -x VARVE_CRASH_ROUNDS=${VARVE_CRASH_ROUNDS:-10}
  while [ "$failed" -eq "$row_failed" ] && [ "$SECONDS" -lt "$end_s" ]; do
    TMPDIR=$small_stores run_tests kills-small 3600 "$program" --gtest_filter='*SmallStores*'
  done
}

torture_limits() {
  build_tests crash_limits && run_tests limits 900 build/ci/tests/crash/crash_limits
}

# One session, written by processes of C, Rust, Go, Node and Python at once that are killed, over
# and over until the time is used up; in memory, as the small stores above.
torture_languages() {
  local end_s=$((SECONDS + $1)) log status stores=${TMPDIR:-/tmp}
  [ -n "${TMPDIR:-}" ] || [ ! -w /dev/shm ] || stores=/dev/shm
  build_tests varve varve_cli bindings_worker || return
  local -x VARVE_LIBRARY=build/ci/libvarve.so
  while :; do
    log=$torture_logs/languages.$((${tried[rounds]:-0} + 1)).log
    TMPDIR=$stores timeout --kill-after=10 3600 \
      python3 -B tests/bindings/shared_store_test.py --whole \
      --program build/ci/src/cli/varve --c-worker build/ci/tests/bindings/bindings_worker \
      >"$log" 2>&1
    status=$?
    case $status in
      0) count rounds 1 && count_from "$log" ;;
      77) note_not_run "languages: $(tail -1 "$log")" ;;
      *) note_failure "languages: ended with $status (see $log)" ;;
    esac
    [ "$status" -eq 0 ] && [ "$SECONDS" -lt "$end_s" ] || return
  done
}
