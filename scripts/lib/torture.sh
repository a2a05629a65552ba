# What campaigns of scripts/torture share; to be sourced by bash after build.sh. A campaign says
# `count` for what it tried and `note_failure` for what was wrong; `row` makes a line of the table
# of both.

torture_logs=build/torture
rows=()  # name|tried|violations|seconds
children=()

# --- the table -----------------------------------------------------------------------------------

start_row() {
  declare -gA tried=()
  tried_order=()
  row_started=$SECONDS
  row_failed=$failed
  row_not_run=${#not_run[@]}
}

has_unreported() {
  [ ${#tried_order[@]} -gt 0 ] || [ "$failed" -gt "$row_failed" ] ||
    [ ${#not_run[@]} -gt "$row_not_run" ]
}

# count WHAT NUMBER
count() {
  [ -n "${tried[$1]:-}" ] || tried_order+=("$1")
  tried[$1]=$((${tried[$1]:-0} + $2))
}

# count_from LOG...: the lines `[  counted ] WHAT NUMBER` of tests (tests/support/counted.h).
count_from() {
  local what number
  while read -r number what; do
    count "$what" "$number"
  done < <(sed -n 's/^\[  counted \] \(.*\) \([0-9]*\)$/\2 \1/p' "$@")
}

# row NAME: what was counted since the last one. Nothing tried is a violation.
row() {
  local what text=
  for what in "${tried_order[@]}"; do
    [ "${tried[$what]}" -eq 0 ] || text+="${text:+, }$(with_commas "${tried[$what]}") $what"
  done
  if [ -z "$text" ]; then
    if [ ${#not_run[@]} -gt "$row_not_run" ]; then
      text="not run"
    else
      text="nothing"
      [ "$failed" -gt "$row_failed" ] || note_failure "$1: nothing was tried"
    fi
  fi
  rows+=("$1|$text|$((failed - row_failed))|$((SECONDS - row_started))")
  start_row
}

with_commas() {
  printf '%s' "$1" | sed -e ':again' -e 's/^\([0-9]*[0-9]\)\([0-9]\{3\}\)/\1,\2/' -e 'tagain'
}

print_table() {
  local line name text violations seconds
  printf '\n%-24s | %-72s | %10s | %7s\n' test "states or cases tried" violations seconds
  printf '%.0s-' {1..122}
  printf '\n'
  for line in "${rows[@]}"; do
    IFS='|' read -r name text violations seconds <<<"$line"
    printf '%-24s | %-72s | %10s | %7s\n' "$name" "$text" "$violations" "$seconds"
  done
  printf '\n'
}

# --- programs ------------------------------------------------------------------------------------

# Background jobs of a script do not hear Ctrl-C: they are ended here, each by its own id.
stop_children_when_stopped() {
  trap 'for child in "${children[@]}"; do kill "$child" 2>/dev/null; done; exit 130' INT TERM
}

# have TOOL CAMPAIGN: whether it is there; when not, that is noted.
have() {
  command -v "$1" >/dev/null || {
    note_not_run "$2: there is no $1"
    return 1
  }
}

# build_tests TARGET...: of the preset ci.
build_tests() {
  use_gcc
  configure ci && build ci "$@"
}

# run_tests NAME SECONDS_MAX PROGRAM ARGUMENTS...: a GoogleTest program, in as many parts as there
# are jobs. Counts what it tells, and each test that fails or does not end. What it was run under,
# a tool, stands before the program.
run_tests() {
  local name=$1 limit_s=$2 log=$torture_logs/$1 part status
  shift 2
  children=()
  for ((part = 0; part < jobs; ++part)); do
    GTEST_TOTAL_SHARDS=$jobs GTEST_SHARD_INDEX=$part \
      timeout --kill-after=10 "$limit_s" "$@" --gtest_color=no >"$log.$part.log" 2>&1 &
    children+=($!)
  done
  for ((part = 0; part < jobs; ++part)); do
    wait "${children[part]}"
    status=$?
    take_tests "$name" "$log.$part.log" "$status"
  done
  children=()
}

# take_tests NAME LOG EXIT_STATUS
take_tests() {
  local test failed_before=$failed
  count_from "$2"
  count tests "$(grep -cE '^\[ ( {6}OK| FAILED ) \] .* \([0-9]+ ms\)$' "$2")"
  while read -r test; do
    note_failure "$1: $test (see $2)"
  done < <(sed -n 's/^\[  FAILED  \] \(.*\) ([0-9]* ms)$/\1/p' "$2")
  while read -r test; do
    note_not_run "$1: $test"
  done < <(sed -n 's/^\[  SKIPPED \] \(.*\) ([0-9]* ms)$/\1/p' "$2")
  if [ "$3" -ne 0 ] && [ "$failed" -eq "$failed_before" ]; then
    note_failure "$1: ended with $3 (see $2)"
  fi
}
