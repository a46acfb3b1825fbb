#include "tests/fuzz/wire_reader_target.h"

#include "profiler/formats/container/trace_reader.h"
#include "tests/profiler/wire_file.h"

#include <algorithm>
#include <cstdlib>
#include <span>
#include <vector>

namespace {

using namespace profiler;

void ask(const Trace& trace)
{
    std::vector<LodBucket> buckets(50);
    std::size_t slices = 0;
    for (const Track& track : trace.tracks()) {
        for (int depth = 0; depth < std::min(trace.depthCount(track.id), 4); ++depth)
            trace.summarize(track.id, depth, trace.range(), buckets);
        for (const Slice& slice : trace.sorted(track.id)) {
            if (trace.slice(slice.id).begin != slice.begin || trace.name(slice).size() > 1U << 20)
                std::abort();
            if (slices++ < 100)
                static_cast<void>(trace.flowsOf(slice.id));
        }
        static_cast<void>(trace.counter(track.id));
    }
    if (slices != trace.sliceCount())
        std::abort();
}

} // namespace

void readAnything(const std::uint8_t* data, std::size_t size)
{
    const wire_test::MemoryFile file;
    const auto bytes = std::as_bytes(std::span{data, size});
    auto reader = container::TailingReader::open(file.write(bytes.first(size / 2)));
    if (reader) {
        static_cast<void>((*reader)->poll());
        ask(*(*reader)->snapshot());
    }
    const auto path = file.write(bytes);
    if (reader) {
        static_cast<void>((*reader)->poll());
        (*reader)->closeAsCut();
        ask(*(*reader)->snapshot());
    }
    if (const auto trace = container::readTrace(path))
        ask(**trace);
}
