# Campaigns on real files, with real processes and the limits of the system.

# Killed at every system call once; killed at any moment until the time is used up.
torture_kills() {
  local end_s=$((SECONDS + $1)) program=build/ci/tests/crash/crash_processes round
  build_tests crash_processes || return
  have strace kills && run_tests kills-at-calls 3600 "$program" --gtest_filter='*AtEveryCall*'
  for ((round = 1; round == 1 || SECONDS < end_s; ++round)); do
    run_tests kills $(($1 + 900)) "$program" \
      --gtest_filter='Processes.*:*KilledOverAndOver*:Lifecycle*:Stores*'
    [ "$failed" -eq "$row_failed" ] || return
  done
}

torture_limits() {
  build_tests crash_limits && run_tests limits 900 build/ci/tests/crash/crash_limits
}
