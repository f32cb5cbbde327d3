#!/bin/sh
# Runs the compiled AVX-512 kernels on a machine whose CPU has none, in the PC emulator Bochs
# (Debian: bochs, bochs-term). The emulated PC has no operating system: bochs/ starts the program.
# usage: run_bochs.sh [ROUNDS]   each round compares all kernels on new random data (default: 1)
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cxx=${CXX:-c++}
rounds=${1:-1}

skip() {
  echo "Skipped: $1"
  exit 0
}
[ "$(uname -sm)" = "Linux x86_64" ] || skip "the check in Bochs is built on x86-64 Linux only."
for tool in bochs script timeout objcopy addr2line; do
  command -v "$tool" >/dev/null ||
    skip "'$tool' is missing (apt-get install bochs bochs-term bsdutils coreutils binutils)."
done
ls /usr/lib/*/bochs/plugins/libbx_term_gui.so >/dev/null 2>&1 ||
  skip "Bochs has no text screen (apt-get install bochs-term)."

build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
cd "$build"
echo 'int main() {}' | "$cxx" -x c++ -static - -o static 2>/dev/null ||
  skip "$cxx cannot link static programs."

# The program: the kernels with the flags they have in the library, and the check.
lists=$here/../../CMakeLists.txt
avx2=$(sed -n 's/^ *set(AVX2_FLAGS \(.*\))$/\1/p' "$lists")
avx512=$(sed -n 's/.*"${AVX2_FLAGS};\(-mavx512[^"]*\)".*/\1/p' "$lists" | tr ';' ' ')
if [ -z "$avx2" ] || [ -z "$avx512" ]; then
  echo "FAILED: the flags of the AVX-512 kernels were not found in CMakeLists.txt"
  exit 1
fi
compile="$cxx -std=c++20 -O3 -fPIC -c"
$compile $avx2 "$here/../lane_avx2.cpp"
$compile $avx2 $avx512 "$here/../lane_avx512.cpp"
$compile "-DROUNDS=$rounds" "$here/../lane_plain.cpp" "$here/../cpu.cpp" \
  "$here/compare_lanes.cpp" "$here/avx512_compiled.cpp"
"$cxx" -static -no-pie ./*.o -o check

# The disk holds the program, the ROM what starts it.
cylinders=8
cp check disk
truncate -s ">$((cylinders * 16 * 63 * 512))" disk
"$cxx" -std=c++20 -O1 -Wall -Wextra -ffreestanding -fno-pic -mgeneral-regs-only -fno-exceptions \
  -fno-stack-protector -fno-asynchronous-unwind-tables -fcf-protection=none -nostdlib -static \
  -no-pie -Wl,--build-id=none -Wl,-T,"$here/bochs/rom.ld" \
  "$here/bochs/start.S" "$here/bochs/load.cpp" "$here/bochs/calls.cpp" -o starter
objcopy -O binary -j .rom -j .reset starter rom

cat >settings <<END
cpu: model=corei7_icelake_u, ips=100000000, reset_on_triple_fault=0
memory: guest=512, host=512
romimage: file=rom
ata0-master: type=disk, path=disk, mode=flat, cylinders=$cylinders, heads=16, spt=63
com1: enabled=1, mode=file, dev=said
display_library: term
clock: sync=none
sound: driver=dummy
panic: action=fatal
log: log
END
# Debian's Bochs has its debugger built in, which waits for the command to continue.
debugger=
if bochs --help 2>&1 | grep -q -e ' -rc '; then
  echo c >commands
  debugger="-rc commands"
fi
TERM=linux timeout $((900 * rounds)) \
  script -qfc "bochs -q -f settings $debugger" /dev/null </dev/null >screen 2>&1 || true

touch said
grep -v '^status ' said || true
if ! grep -q '^status ' said; then
  echo "FAILED: the machine stopped before the program's end"
  grep -h -A 1 'exiting with the following message' screen || true
  at=$(sed -n 's/.*RIP=\([0-9a-f]*\).*/\1/p' log | tail -n 1)
  [ -z "$at" ] || addr2line -fCe check "$at"
  exit 1
fi
if ! grep -q '^status 0$' said; then
  grep -q '^FAILED' said || echo "FAILED: the program gave up"
  exit 1
fi
