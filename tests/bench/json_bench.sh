#!/usr/bin/env bash
# Opens PyTorch JSON traces with Stepscope and with the peers, alternating, in fresh processes, and prints medians and ratios.
#   tests/bench/json_bench.sh BUILD_FOLDER [EVENTS …]          (default: 1000000 events)
# The generator and the peers are in ../shared/bench next to the checkout, or in $STEPSCOPE_PEERS: gen_trace.py,
# simdjson_floor.cpp (parses on demand, one thread), kineto_floor.cpp (two threads, keeps no arguments, checks nothing).
# Files are read once first, so that they are in the page cache for all programs. Needs g++, python3 and libsimdjson-dev.
set -euo pipefail
build=$(realpath "${1:?usage: json_bench.sh BUILD_FOLDER [EVENTS …]}")
shift
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
peers=${STEPSCOPE_PEERS:-$root/../shared/bench}
work=${TMPDIR:-/tmp}/stepscope-json-bench
mkdir -p "$work"
for peer in simdjson_floor kineto_floor; do
  [ -x "$work/$peer" ] || g++ -O3 -march=native -pthread -o "$work/$peer" "$peers/$peer.cpp" -lsimdjson
done
for events in "${@:-1000000}"; do
  trace=$work/$events.json
  [ -e "$trace" ] || python3 "$peers/gen_trace.py" "$events" "$trace" > /dev/null
  [ -e "$trace.gz" ] || gzip -1 -k "$trace"
  cat "$trace" "$trace.gz" > /dev/null
  : > "$work/lines"
  for _ in 1 2 3 4 5; do
    "$build/tests/bench/json_bench" "$trace" | sed 's/^/ours /' >> "$work/lines"
    "$work/kineto_floor" "$trace" 2 | sed 's/^/kineto_floor /' >> "$work/lines"
    "$work/simdjson_floor" "$trace" | sed 's/^/simdjson_floor /' >> "$work/lines"
  done
  for _ in 1 2 3; do
    "$build/tests/bench/json_bench" "$trace.gz" | sed 's/^/ours.gz /' >> "$work/lines"
    /usr/bin/env bash -c "TIMEFORMAT='{\"load_s\": %R}'; time gzip -dc '$trace.gz' > /dev/null" 2>&1 | sed 's/^/gzip /' >> "$work/lines"
  done
  python3 - "$work/lines" "$events" <<'PY'
import json, statistics, sys
rows = {}
for line in open(sys.argv[1]):
    name, text = line.split(' ', 1)
    rows.setdefault(name, []).append(json.loads(text))
seconds = {n: statistics.median(r.get('total_s', r['load_s']) for r in rs) for n, rs in rows.items()}
ours = rows['ours'][0]
print(f"{sys.argv[2]} events, {ours['slices']} slices, warm cache, medians in seconds:")
for name, value in sorted(seconds.items(), key=lambda item: item[1]):
    print(f"  {name:15} {value:7.3f}   ours / this {(seconds['ours.gz'] if name == 'gzip' else seconds['ours']) / value:5.2f}")
mb = max(r['anonymous_mb'] for r in rows['ours'])
print(f"  anonymous memory after opening {mb:.0f} MB ({mb / ours['events'] * 1e6:.0f} MB per million events), peak "
      f"{max(r['peak_mb'] for r in rows['ours']):.0f} MB, scan {statistics.median(r['scan_s'] for r in rows['ours']):.3f} s")
PY
done
