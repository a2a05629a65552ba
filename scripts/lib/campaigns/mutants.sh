# Mistakes in the library that the tests must notice.

MUTANT_PROGRAMS=(unit_io unit_log unit_session unit_store capi fault_sweep simulation crash_states)

# A copy of the tree has all of them behind switches and is built once; then each is on while the
# tests of its component run, the fast ones first. Time decides how many are tried: they come in an
# order that the seed decides. Survivors are listed for somebody to judge; a violation is that fewer
# were killed than mutants.py asks for.
torture_mutants() {
  local copy=build/mutants log=$torture_logs/mutants part results=() stores=${TMPDIR:-/tmp}
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
  [ -n "${TMPDIR:-}" ] || [ ! -w /dev/shm ] || stores=/dev/shm
  children=()
  for ((part = 0; part < jobs; ++part)); do
    results+=("$log.$part.log")
    TMPDIR=$stores python3 scripts/lib/mutants.py run "$copy" "$copy/build/ci" \
      --part "$part/$jobs" --minutes $(($1 / 60)) >"$log.$part.log" 2>&1 &
    children+=($!)
  done
  for ((part = 0; part < jobs; ++part)); do
    wait "${children[part]}" || note_failure "mutants: ended early (see ${results[part]})"
  done
  children=()
  grep -h '^SURVIVED' "${results[@]}"
  python3 scripts/lib/mutants.py judge "${results[@]}" >"$log.log" ||
    note_failure "mutants: too few were killed (see $log.log)"
  count_from "$log.log"
}
