#!/bin/sh
# The kernels compiled with AddressSanitizer and UndefinedBehaviorSanitizer, and a slice of their
# tests: memory that is read or written where it should not be, and sums that overflow, end it.
# usage: run_sanitised.sh [PYTEST ARGUMENTS]   (default: the slice, in about three minutes)
set -eu
cd "$(dirname "$0")/../.."
python=$PWD/.venv/bin/python
cxx=${CXX:-c++}
asan=$("$cxx" -print-file-name=libasan.so)
ubsan=$("$cxx" -print-file-name=libubsan.so)
if [ "$(uname -s)" != Linux ] || [ ! -e "$asan" ] || [ ! -e "$ubsan" ]; then
  echo "Skipped: $cxx has no sanitisers here."
  exit 0
fi
build=$PWD/build/sanitised
launcher=$(command -v ccache || true)
"$python" -m cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=None -DCREDO_OPTIMISE=-O0 \
  -DCMAKE_CXX_COMPILER_LAUNCHER="$launcher" -DCMAKE_MAKE_PROGRAM="$("$python" -c \
  'import ninja, os; print(os.path.join(ninja.BIN_DIR, "ninja"))')" \
  -DCMAKE_CXX_FLAGS="-fsanitize=address,undefined -g1 -w" -DPython_EXECUTABLE="$python" \
  -Dnanobind_DIR="$("$python" -m nanobind --cmake_dir)" >/dev/null
"$python" -m cmake --build "$build"
