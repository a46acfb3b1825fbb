#include "tests/fuzz/open_trace_target.h"

#include "profiler/formats/format.h"
#include "profiler/formats/pytorch/read_json.h"
#include "tests/profiler/wire_file.h"

#include <algorithm>
#include <cstdlib>
#include <span>
#include <vector>

namespace {

using namespace profiler;

void ask(const Trace& trace)
{
    std::vector<LodBucket> buckets(20);
    std::size_t slices = 0;
    for (const Track& track : trace.tracks()) {
        for (int depth = 0; depth < std::min(trace.depthCount(track.id), 3); ++depth)
            trace.summarize(track.id, depth, trace.range(), buckets);
        for (const Slice& slice : trace.sorted(track.id)) {
            if (trace.slice(slice.id).begin != slice.begin || trace.name(slice).size() > std::size_t{1} << 24)
                std::abort();
            if (slices++ < 50) {
                static_cast<void>(trace.flowsOf(slice.id));
                static_cast<void>(trace.details(slice.id));
            }
        }
        static_cast<void>(trace.counter(track.id));
    }
    if (slices != trace.sliceCount())
        std::abort();
}

} // namespace

void openAnything(const std::uint8_t* data, std::size_t size)
{
    const wire_test::MemoryFile file;
    const auto path = file.write(std::as_bytes(std::span{data, size}));
    formats::ReadOptions options;
    options.threads = size % 16 == 0 ? 2 : 1; // starting a thread takes longer than reading a small file
    if (size % 3 == 0)
        options.memoryBudget = 1; // everything that can goes to disk
    auto trace = formats::openTrace(path, options);
    if (!trace && trace.error().what.id == "open.unknown_format")
        trace = formats::json::readJson(path, options);
    if (trace)
        ask(**trace);
}
