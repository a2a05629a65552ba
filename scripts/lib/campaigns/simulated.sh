# Campaigns on a disk in memory: power losses, damage and errors at every place; deterministic.

# What one processor takes for all states of the everyday size, and for every 41st bit of the logs.
CRASH_STATES_S=400
FLIPS_S=6
CUTS_S=1500

# What one processor runs in a second of the simulation.
SEEDS_PER_S=45

# crash_tests NAME SECONDS_MAX TARGET FILTER
crash_tests() {
  build_tests "$3" && run_tests "$1" "$2" "build/ci/tests/crash/$3" "--gtest_filter=$4"
}

SEEDED='*SeededDefects*:*AMissingSyncIsFound:*TheCanaryFindsWhatIsThere'

# More time looks at more of the states that a moment allows; too little time, at fewer.
torture_crash_states() {
  local percent=$(($1 * 100 * jobs / CRASH_STATES_S))
  local -x VARVE_CRASH_SCALE=${VARVE_CRASH_SCALE:-$((percent > 10 ? percent : 10))}
  crash_tests crash-states $(($1 * 4 + 900)) crash_states "-$SEEDED"
}

torture_seeded_bugs() {
  crash_tests seeded-bugs 900 crash_states "$SEEDED"
}

# Every call on files of sessions on a simulated disk, and every system call of every function of
# the ABI; that in memory, for it is not the disk that is tried.
torture_faults() {
  local stores=${TMPDIR:-/tmp}
  local -x VARVE_CRASH_SCALE=${VARVE_CRASH_SCALE:-100}
  [ -n "${TMPDIR:-}" ] || [ ! -w /dev/shm ] || stores=/dev/shm
  crash_tests faults 3600 fault_sweep '*'
  TMPDIR=$stores crash_tests system-calls 3600 system_call_sweep '*'
}

# Every allocation of every function of the ABI; in memory, for the disk is not tried here.
torture_allocations() {
  local stores=${TMPDIR:-/tmp}
  local -x VARVE_CRASH_SCALE=${VARVE_CRASH_SCALE:-100}
  [ -n "${TMPDIR:-}" ] || [ ! -w /dev/shm ] || stores=/dev/shm
  TMPDIR=$stores crash_tests allocations $(($1 * 4 + 1800)) allocation_sweep '*'
}

# A log of 70 kB, more than five times the everyday one, with all that may be behind a cut and
# beside it: more than a million cuts. Less time than they take leaves out all but every so many of
# them.
torture_cut_files() {
  local step=$((CUTS_S / ($1 * jobs + 1)))
  local -x VARVE_CRASH_SCALE=${VARVE_CRASH_SCALE:-110}
  local -x VARVE_CUT_STEP=${VARVE_CUT_STEP:-$((step > 1 ? step : 1))}
  build_tests unit_session &&
    run_tests cut-files $(($1 * 4 + 900)) build/ci/tests/unit/session/unit_session \
      '--gtest_filter=EveryByte/Cut.*:*Truncated*:*EveryLength*'
}

# More time flips more of the bits of the logs; those of the other files are all flipped anyway.
torture_bit_flips() {
  local step=$((41 * FLIPS_S / ($1 * jobs + 1)))
  local -x VARVE_CRASH_SCALE=${VARVE_CRASH_SCALE:-100}
  local -x VARVE_FLIP_STEP=${VARVE_FLIP_STEP:-$((step > 1 ? step : 1))}
  build_tests unit_session &&
    run_tests bit-flips $(($1 * 4 + 900)) build/ci/tests/unit/session/unit_session \
      '--gtest_filter=*LogFlips.*:Snapshots.*Flipped*:MetadataFlips.*'
}

# Other seeds each time, unless told where to begin.
torture_simulation() {
  local -x VARVE_SIMULATION_SEEDS=${VARVE_SIMULATION_SEEDS:-$((($1 + 1) * jobs * SEEDS_PER_S))}
  local -x VARVE_SIMULATION_FIRST=${VARVE_SIMULATION_FIRST:-$(date +%s)}
  build_tests simulation &&
    run_tests simulation $(($1 * 4 + 900)) build/ci/tests/simulation/simulation
}
