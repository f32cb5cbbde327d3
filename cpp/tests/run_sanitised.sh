#!/bin/sh
# The kernels compiled with AddressSanitizer and UndefinedBehaviorSanitizer, and a slice of their
# tests: memory that is read or written where it should not be, and arithmetic that C++ leaves
# undefined, end it with the line.
# usage: run_sanitised.sh [PYTEST ARGUMENTS]   (default: the slice that CI runs)
set -eu
cd "$(dirname "$0")/../.."
bin=$PWD/.venv/bin
build=$PWD/build/sanitised
cxx=${CXX:-c++}
asan=$("$cxx" -print-file-name=libasan.so)
ubsan=$("$cxx" -print-file-name=libubsan.so)
if [ "$(uname -s)" != Linux ] || [ ! -e "$asan" ] || [ ! -e "$ubsan" ]; then
  echo "Skipped: $cxx has no sanitisers here."
  exit 0
fi

# Without optimisation the compiler is four times as fast, and the slice still takes a minute.
PATH=$bin:$PATH cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=None -DCREDO_OPTIMISE=-O0 \
  -DCMAKE_CXX_COMPILER_LAUNCHER="$(command -v ccache || true)" -DPython_EXECUTABLE="$bin/python" \
  -DCMAKE_CXX_FLAGS="-fsanitize=address,undefined -g1 -w" \
  -Dnanobind_DIR="$("$bin/python" -m nanobind --cmake_dir)" >/dev/null
PATH=$bin:$PATH cmake --build "$build" --target _core -- --quiet

# The package beside the sanitised core; the editable install's own finder is left out by -S.
rm -rf "$build/site"
mkdir -p "$build/site"
cp -r src/credo "$build/site/credo"
cp "$build"/_core*.so "$build/site/credo/"
packages=$("$bin/python" -c 'import numpy, os; print(os.path.dirname(numpy.__path__[0]))')
[ $# -gt 0 ] || set -- tests/kernels/test_sampling.py tests/kernels/test_approximate.py \
  tests/kernels/test_count.py tests/kernels/test_naive.py tests/kernels/test_inference.py \
  tests/kernels/test_decisions.py
# Python keeps what it allocates, and memory is handed on to be reused: leaks are not looked for.
ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 LD_PRELOAD="$asan $ubsan" \
  PYTHONPATH="$build/site:$packages:$PWD" OMP_NUM_THREADS=1 \
  "$bin/python" -S -m pytest -p no:cacheprovider -p no:xdist "$@"
