# The manual's models beside the library (tests/docs/*_model_test.py).

# Seeds that one call of a model tries.
MODEL_SEEDS=5

# All models, each with other seeds than in the round before, over and over until the time is used
# up. The first seed is the time, unless it is given.
torture_models() {
  local end_s=$((SECONDS + $1)) first=${VARVE_MODEL_FIRST:-$(date +%s)} model
  build_tests varve || return
  local -x VARVE_LIBRARY=build/ci/libvarve.so
  while :; do
    for model in tests/docs/*_model_test.py; do
      run_model "$model" "$first"
    done
    first=$((first + jobs * MODEL_SEEDS))
    [ "$failed" -eq "$row_failed" ] && [ "$SECONDS" -lt "$end_s" ] || return
  done
}

# run_model SCRIPT FIRST: in as many processes as there are jobs, each with seeds of its own.
run_model() {
  local name part log
  name=$(basename "$1" _test.py)
  children=()
  for ((part = 0; part < jobs; ++part)); do
    timeout --kill-after=10 1800 python3 -B "$1" "$MODEL_SEEDS" $(($2 + part * MODEL_SEEDS)) \
      >"$torture_logs/models-$name.$part.log" 2>&1 &
    children+=($!)
  done
  for ((part = 0; part < jobs; ++part)); do
    log=$torture_logs/models-$name.$part.log
    if wait "${children[part]}"; then
      count seeds "$MODEL_SEEDS"
    else
      note_failure "models: $name from seed $(($2 + part * MODEL_SEEDS)) (see $log)"
    fi
  done
  children=()
}
