# The tests on another processor: built by Debian's cross compiler, run in an emulator.

AARCH64_PACKAGES=(g++-aarch64-linux-gnu qemu-user-static)
# Unpacked into a folder, not installed: they are for the other processor.
AARCH64_LIBRARIES=(
  "$(boost_package)" libssl-dev libxxhash-dev libutf8proc-dev libstemmer-dev libgtest-dev)

# What makes the kernel deny system calls, which the emulator does not, and forks beside threads,
# after which it may wait for itself.
AARCH64_LEFT_OUT=(
  '*WhereThereAreNoLocks*' '*NamesThatItMade*' '*FirstSyncBelowIt' '*WantOfADescriptor*'
  '*ThatIsNotOurs*' '*AWriteOfNothing*' '*WithoutOpenat2*' '*KernelCannotPromise*'
  '*CannotBeSwapped*' '*CannotBeSynced*' '*EveryFailedSystemCall*' '*ASandboxDenies*'
  '*WhileOthersFork*')
# Program and what of it is run.
AARCH64_TESTS=(
  "unit_base:*" "unit_json:*" "unit_entry:*" "unit_decay:*" "unit_embedding:*" "unit_index:*"
  "unit_text:*" "unit_query:*" "unit_log:*" "unit_stores:*" "unit_transfer:*" "unit_context:*"
  "unit_io:-$(IFS=:; echo "${AARCH64_LEFT_OUT[*]}")" "unit_memory:*"
  "unit_capi:-*ForkWhileOtherThreads*" "capi:*" "simulation:*" "fault_sweep:*" "crash_states:*"
  "unit_session:*" "unit_store:*")

# Not its option for another root: programs would then find that one when they open /.
aarch64_emulator=(
  qemu-aarch64-static /usr/aarch64-linux-gnu/lib/ld-linux-aarch64.so.1
  --library-path /usr/aarch64-linux-gnu/lib)

# unpack_for ARCHITECTURE FOLDER PACKAGE...: by lists of packages of its own, so that the machine's
# stay as they are.
unpack_for() {
  local folder=$PWD/$2 file options
  options=(-qq -o "APT::Architecture=$1" -o "APT::Architectures::=$1"
    -o "Dir::State::Lists=$folder/lists" -o "Dir::Cache=$folder/cache")
  mkdir -p "$folder/lists/partial" "$folder/cache/archives/partial" "$folder/packages"
  apt-get "${options[@]}" update &&
    (cd "$folder/packages" && apt-get "${options[@]}" download "${@:3}") || return
  for file in "$folder"/packages/*.deb; do
    dpkg -x "$file" "$folder/root" || return
  done
}

# Some ten to thirty times slower than without an emulator: what is tried at every byte or call is
# tried at a part of them.
torture_aarch64() {
  local pair name stores=${TMPDIR:-/tmp} root=build/aarch64-root
  local -x VARVE_CRASH_SCALE=${VARVE_CRASH_SCALE:-4} VARVE_CUT_STEP=${VARVE_CUT_STEP:-29}
  local -x VARVE_FLIP_STEP=${VARVE_FLIP_STEP:-997} VARVE_SIMULATION_SEEDS=20
  require_packages "${AARCH64_PACKAGES[@]}"
  have aarch64-linux-gnu-g++ aarch64 && have qemu-aarch64-static aarch64 || return
  [ -d "$root/root" ] || unpack_for arm64 "$root" "${AARCH64_LIBRARIES[@]}" \
    >"$torture_logs/aarch64-root.log" 2>&1 || {
    note_failure "aarch64: its libraries are not to be had (see $torture_logs/aarch64-root.log)"
    return
  }
  [ -n "${TMPDIR:-}" ] || [ ! -w /dev/shm ] || stores=/dev/shm
  unset CC CXX
  configure aarch64 && build aarch64 "${AARCH64_TESTS[@]%%:*}" || return
  for pair in "${AARCH64_TESTS[@]}"; do
    name=${pair%%:*}
    TMPDIR=$stores run_tests "aarch64-$name" 7200 "${aarch64_emulator[@]}" \
      "$(find build/aarch64/tests -type f -name "$name" -perm -u+x)" "--gtest_filter=${pair#*:}"
  done
}
