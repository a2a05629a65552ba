# Mistakes in the library that the tests must notice.

# mutants_together COMMAND LOG ARGUMENTS...: as many processes as jobs, each with its part.
mutants_together() {
  local command=$1 log=$2 part stores=${TMPDIR:-/tmp}
  shift 2
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

torture_mutants() {
  mutants_of keeping "$1"
}

torture_mutants_finding() {
  mutants_of finding "$1"
}

torture_mutants_store() {
  mutants_of store "$1"
}

# mutants_of AREA SECONDS
#
# A copy of the tree has all of them behind switches and is built once. Each test is run with all of
# them off, which tells what it asks for; then each is on while the tests run that ask for it. Time
# decides how far that goes, in an order that the seed decides. Survivors are listed for somebody to
# judge; a violation is that fewer were killed than mutants.py asks for.
mutants_of() {
  local area=$1 minutes=$(($2 / 60)) copy=build/mutants-$1 log=$torture_logs/mutants-$1 programs
  mapfile -t programs < <(python3 scripts/lib/mutants.py programs "$area")
  python3 scripts/lib/mutants.py make "$area" . "$copy" --sample "${VARVE_MUTANTS:-0}" \
    --seed "${VARVE_MUTANT_SEED:-$(date +%s)}" || {
    note_failure "mutants: the copy could not be made"
    return
  }
  use_gcc
  # Where the preset puts it: so the compiler's cache knows most of it.
  (cd "$copy" && cmake --preset ci) >"$log.configure.log" 2>&1 &&
    ninja -C "$copy/build/ci" -j "$jobs" "${programs[@]}" >"$log.build.log" 2>&1 || {
    note_failure "mutants: the copy could not be built (see $log.build.log)"
    return
  }
  rm -f "$copy"/reached.*.tsv "$log".run.*.log
  mutants_together reach "$log" "$area" "$copy" "$copy/build/ci"
  mutants_together run "$log" "$area" "$copy" "$copy/build/ci" --minutes "$minutes"
  grep -h '^SURVIVED' "$log".run.*.log
  python3 scripts/lib/mutants.py judge "$area" "$log".run.*.log >"$log.log" ||
    note_failure "mutants: too few were killed (see $log.log)"
  count_from "$log.log"
}
