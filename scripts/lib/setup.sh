# Shared by scripts/test, scripts/torture and scripts/demo; to be sourced by bash in the root of the
# tree. Arguments, headings, timings, packages.

# boost_package: Boost of 1.81 or later, which in Debian 12 is not the one without a number.
boost_package() {
  if grep -q '^VERSION_CODENAME=bookworm$' /etc/os-release 2>/dev/null; then
    echo libboost1.81-dev
  else
    echo libboost-dev
  fi
}

# What the library and the command line program are built from, and then what the tests add.
# On Debian 12 these names are exact; elsewhere, their counterparts do.
BUILD_PACKAGES=(
  g++ cmake ninja-build
  "$(boost_package)" libssl-dev libxxhash-dev libutf8proc-dev libstemmer-dev libcli11-dev)
TEST_PACKAGES=(
  "${BUILD_PACKAGES[@]}" python3 python3-prometheus-client pkg-config ccache strace jq groff-base
  zsh fish libgtest-dev libbenchmark-dev
  libsqlite3-dev liblmdb-dev libleveldb-dev librocksdb-dev libxapian-dev)
STYLE_PACKAGES=(clang-format-14 clang-tidy-14)
SANITIZER_PACKAGES=(clang-14 libclang-rt-14-dev)
TORTURE_PACKAGES=("${SANITIZER_PACKAGES[@]}" strace valgrind e2fsprogs xfsprogs btrfs-progs)

# missing_language_packages: what tests of the bindings need and is not there under any name. The
# cargo and go of Debian 12 are older than the crates and modules want: where there are none, those
# tests are named as not run.
missing_language_packages() {
  command -v node >/dev/null || echo nodejs
  command -v npm >/dev/null || echo npm
  python3 -c 'import ensurepip, venv' 2>/dev/null || echo python3-venv
}

# Which of them this is.
script=scripts/${0##*/}

# usage: the comment at its start.
usage() {
  sed -n '2,/^set /s/^# \{0,1\}//p' "$script"
}

# refuse TEXT: ends it, for what is wrong with its arguments.
refuse() {
  echo "$1; see $script --help" >&2
  exit 2
}

# heading TEXT: starts a step; the time the previous one took is told first.
heading() {
  end_of_step
  STEP_STARTED=$SECONDS
  printf '\n=== %s\n' "$*"
}

end_of_step() {
  if [ -n "${STEP_STARTED:-}" ]; then
    printf '    (%d s)\n' $((SECONDS - STEP_STARTED))
  fi
  STEP_STARTED=
}

say() {
  printf '    %s\n' "$*"
}

is_installed() {
  [ "$(dpkg-query -W -f '${Status}' "$1" 2>/dev/null)" = "install ok installed" ]
}

# as_root COMMAND...
as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    say "this needs root, and there is no sudo: $*"
    return 1
  fi
}

# require_packages NAME...: installs those that are missing; returns 1 and says so when it cannot.
require_packages() {
  local name missing=()
  if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    say "no apt here; make sure these are installed: $*"
    return 0
  fi
  for name in "$@"; do
    is_installed "$name" || missing+=("$name")
  done
  if [ ${#missing[@]} -eq 0 ]; then
    say "all $# packages are there"
    return 0
  fi
  say "installing ${missing[*]}"
  local log
  log=$(mktemp)
  if as_root apt-get update -qq >"$log" 2>&1 &&
    as_root env DEBIAN_FRONTEND=noninteractive \
      apt-get install -y -qq --no-install-recommends "${missing[@]}" >>"$log" 2>&1; then
    rm -f "$log"
    return 0
  fi
  tail -n 20 "$log"
  rm -f "$log"
  say "these packages could not be installed: ${missing[*]}"
  return 1
}

# job_count: how many programs to run at once.
job_count() {
  nproc 2>/dev/null || echo 2
}
