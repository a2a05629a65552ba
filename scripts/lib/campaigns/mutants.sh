# Mistakes in the library that the tests must notice.

MUTANT_PROGRAMS=(
  unit_io unit_log unit_session unit_store capi
  simulation fault_sweep allocation_sweep crash_states)

# mutants_together COMMAND ARGUMENTS...: as many processes as there are jobs, each with its part.
mutants_together() {
  local command=$1 log=$torture_logs/mutants part stores=${TMPDIR:-/tmp}
  shift
  [ -n "${TMPDIR:-}" ] || [ ! -w /dev/shm ] || stores=/dev/shm
  children=()
  for ((part = 0; part < jobs; ++part)); do
    TMPDIR=$stores python3 scripts/lib/mutants.py "$command" "$@" --part "$part/$jobs" \
      >"$log.$command.$part.log" 2>&1 &
    children+=($!)
  done
  for ((part = 0; part < jobs; ++part)); do
    wait "${children[part]}" ||
      note_failure "mutants: ended early (see $log.$command.$part.log)"
  done
  children=()
}

# A copy of the tree has all of them behind switches and is built once. Each test is run with all of
# them off, which tells what it asks for; then each is on while the tests run that ask for it. Time
# decides how far that goes, in an order that the seed decides. Survivors are listed for somebody to
# judge; a violation is that fewer were killed than mutants.py asks for.
torture_mutants() {
  local copy=build/mutants log=$torture_logs/mutants
  python3 scripts/lib/mutants.py make . "$copy" --sample "${VARVE_MUTANTS:-0}" \
    --seed "${VARVE_MUTANT_SEED:-$(date +%s)}" || {
    note_failure "mutants: the copy could not be made"
    return
  }
  use_gcc
  # Where the preset puts it: so the compiler's cache knows most of it.
  (cd "$copy" && cmake --preset ci) >"$log.configure.log" 2>&1 &&
    ninja -C "$copy/build/ci" -j "$jobs" "${MUTANT_PROGRAMS[@]}" >"$log.build.log" 2>&1 || {
    note_failure "mutants: the copy could not be built (see $log.build.log)"
    return
  }
  rm -f "$copy"/reached.*.tsv "$log".run.*.log
  mutants_together reach "$copy" "$copy/build/ci"
  mutants_together run "$copy" "$copy/build/ci" --minutes $(($1 / 60))
  grep -h '^SURVIVED' "$log".run.*.log
  python3 scripts/lib/mutants.py judge "$log".run.*.log >"$log.log" ||
    note_failure "mutants: too few were killed (see $log.log)"
  count_from "$log.log"
}
