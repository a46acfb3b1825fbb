#!/usr/bin/env bash
# Time from the start of the process to the first painted window, with a warm page cache. Needs a display; xvfb-run gives one.
#   xvfb-run -a tests/bench/first_paint.sh [BUILD_DIR [RUNS]]      default: build/release 20
# Prints the median and the extremes, in ms. The kernel's tick limits each figure to 10 ms.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
program=${1:-$root/build/release}/bin/stepscope
runs=${2:-20}
own=$(mktemp -d)
trap 'rm -rf "$own"' EXIT
export STEPSCOPE_FIRST_PAINT=1 XDG_CONFIG_HOME=$own/config XDG_DATA_HOME=$own/data XDG_RUNTIME_DIR=$own
"$program" >/dev/null 2>&1 # warms the page cache
for _ in $(seq "$runs"); do
    "$program" 2>/dev/null | awk '{print $4}'
done | sort -n | awk '{t[NR] = $1} END {printf "first paint: median %.0f ms, from %.0f to %.0f ms, %d runs\n", t[int((NR + 1) / 2)], t[1], t[NR], NR}'
