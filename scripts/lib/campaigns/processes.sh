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
