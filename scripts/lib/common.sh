# shellcheck shell=bash
# What the scripts share. Sourced with `root` (the clone) set.
: "${root:?}"

say() { echo "$*" >&2; }

# Leave with status $1 and the sentence "${@:2}".
fail() {
  local status=$1
  shift
  say "$*"
  exit "$status"
}

# Run a command with its output in $log; show the end of the log if it fails.
logged() {
  if ! "$@" >>"$log" 2>&1 </dev/null; then
    tail -n 40 "$log" >&2
    fail 1 "failed: $* (whole log: $log)."
  fi
}

# Cores this process may use; a compiler of templates also needs about 1.5 GB each.
jobs_limit() {
  local cores memory
  cores=$(nproc)
  memory=$(awk '/^MemAvailable/ { print int($2 / 1500000) }' /proc/meminfo)
  echo $((cores < memory ? cores : (memory > 1 ? memory : 1)))
}

# Print the path of nvcc; false if there is none.
find_nvcc() {
  local candidate
  for candidate in "${CUDACXX:-}" "$(command -v nvcc || true)" "${CUDA_HOME:-}/bin/nvcc" \
    /usr/local/cuda/bin/nvcc; do
    if [[ -n $candidate && -x $candidate ]]; then
      echo "$candidate"
      return 0
    fi
  done
  return 1
}

# True if a GPU answers: the driver lists one, asked through nvidia-smi or libcuda itself.
has_device() {
  if command -v nvidia-smi >/dev/null && nvidia-smi -L 2>/dev/null | grep -q '^ *\(GPU\|MIG\) '; then
    return 0
  fi
  python3 - 2>/dev/null <<'END'
import ctypes, sys
cuda = ctypes.CDLL("libcuda.so.1")
count = ctypes.c_int(0)
answers = cuda.cuInit(0) == 0 and cuda.cuDeviceGetCount(ctypes.byref(count)) == 0
sys.exit(0 if answers and count.value > 0 else 1)
END
}

# Configure and build preset $1, targets "${@:2}" (none: all), quietly; a line per stage that has
# something to do. Needs `root`; the whole output is in build/<preset>/build.log.
build_preset() {
  local preset=$1 libraries=host folder=$root/build/$1 log
  shift
  [[ $preset != cuda* ]] || libraries=cuda
  mkdir -p "$folder"
  log=$folder/build.log
  : >"$log"
  # New libraries (another processor, another site) leave no object file valid.
  if [[ ! -f $folder/build.ninja || $root/.deps/stamps/$libraries -nt $folder/build.ninja ]]; then
    say "$preset: configuring"
    (cd "$root" && logged cmake --preset "$preset" -DCROSSBOW_ARCH="${CROSSBOW_ARCH:-native}")
    logged cmake --build "$folder" --target clean
  fi
  local target=()
  [[ $# -eq 0 ]] || target=(--target "$@")
  if ! cmake --build "$folder" "${target[@]}" -- -n 2>/dev/null | grep -q 'no work to do'; then
    say "$preset: building (log: build/$preset/build.log)"
    logged cmake --build "$folder" --parallel "$(jobs_limit)" "${target[@]}"
  fi
}

# Print all C++ sources of the clone, relative to it: what git knows or would add.
source_files() {
  if git -C "$root" rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    # A file that was deleted but not yet committed is still listed.
    git -C "$root" ls-files -co --exclude-standard -- '*.hpp' '*.cpp' |
      while IFS= read -r file; do
        [[ ! -f $root/$file ]] || echo "$file"
      done
  else
    (cd "$root" && find src kernels io topology regression -name '*.[hc]pp')
  fi | sort -u
}

# Print the path of clang tool $1 in the version that the style was tried with.
clang_tool() {
  local candidate
  for candidate in "$1-14" "$1"; do
    if command -v "$candidate" >/dev/null && "$candidate" --version | grep -q 'version 14\.'; then
      command -v "$candidate"
      return 0
    fi
  done
  fail 2 "$1 14 is missing. Run scripts/bootstrap --tools, or install the Debian package $1-14."
}
