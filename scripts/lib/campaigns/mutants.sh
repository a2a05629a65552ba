# Mistakes in the library that the tests must notice.

# How many of all that scripts/lib/mutants.py can make; which, the seed decides.
MUTANT_SAMPLE=150

# A copy of the tree has all of them behind switches and is built once; then each is on while the
# tests of its component run, the fast ones first. Those that survive are no violation by
# themselves: they are listed, for somebody to judge.
torture_mutants() {
  local copy=build/mutants log=$torture_logs/mutants part
  python3 scripts/lib/mutants.py make . "$copy" --sample "${VARVE_MUTANTS:-$MUTANT_SAMPLE}" \
    --seed "${VARVE_MUTANT_SEED:-$(date +%s)}" || {
    note_failure "mutants: the copy could not be made"
    return
  }
  use_gcc
  cmake -S "$copy" -B "$copy/build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo \
    -DCMAKE_UNITY_BUILD=ON -DCMAKE_CXX_FLAGS=-Wno-error -DVARVE_BUILD_CLI=OFF \
    >"$log.configure.log" 2>&1 &&
    ninja -C "$copy/build" -j "$jobs" unit_log unit_session fault_sweep crash_states \
      >"$log.build.log" 2>&1 || {
    note_failure "mutants: the copy could not be built (see $log.build.log)"
    return
  }
  children=()
  for ((part = 0; part < jobs; ++part)); do
    python3 scripts/lib/mutants.py run "$copy" "$copy/build" --part "$part/$jobs" \
      >"$log.$part.log" 2>&1 &
    children+=($!)
  done
  for ((part = 0; part < jobs; ++part)); do
    wait "${children[part]}" || note_failure "mutants: ended early (see $log.$part.log)"
    count_from "$log.$part.log"
  done
  children=()
  grep -h 'SURVIVED' "$log".*.log
}
