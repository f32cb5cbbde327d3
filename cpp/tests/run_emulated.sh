#!/bin/sh
# Checks the AVX-512 kernels on any CPU with SIMDe's emulation (Debian: libsimde-dev).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cxx=${CXX:-c++}
if ! echo '#include <simde/x86/avx512.h>' | "$cxx" -x c++ -fsyntax-only - 2>/dev/null; then
  echo "Skipped: SIMDe is not installed (apt-get install libsimde-dev)."
  exit 0
fi
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
"$cxx" -std=c++20 -O1 -w -Wno-psabi -I"$here/.." "$here/avx512_emulated.cpp" \
  "$here/compare_lanes.cpp" "$here/../common/lane_plain.cpp" -o "$build/emulated"
"$build/emulated"
