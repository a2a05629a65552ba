# Campaign on real file systems, whose disk loses power at any write, or fails and is well again.

# What one processor takes for all of it.
BLOCKS_S=1200

# More time looks at more states and begins to fail at more places; the known mistakes are looked
# for in any case. Where mounting is not allowed, or a file system cannot be made, each of its tests
# is named as not run.
torture_blocks() {
  local percent=$(($1 * 100 * jobs / BLOCKS_S))
  local -x VARVE_BLOCK_SCALE=${VARVE_BLOCK_SCALE:-$((percent > 5 ? percent : 5))}
  build_tests crash_blocks &&
    run_tests blocks $(($1 * 4 + 1800)) build/ci/tests/crash/crash_blocks
}
