#include "tests/fuzz/packed_reader_target.h"

#include "profiler/formats/container/trace_reader.h"
#include "profiler/model/name_search.h"
#include "tests/profiler/wire_file.h"

#include <algorithm>
#include <cstdlib>
#include <span>
#include <vector>

namespace {

using namespace profiler;

void ask(const std::shared_ptr<const Trace>& shared)
{
    const Trace& trace = *shared;
    std::vector<LodBucket> buckets(40);
    std::vector<TrackId> tracks;
    for (const Track& track : trace.tracks()) {
        tracks.push_back(track.id);
        for (int depth = 0; depth < std::min(trace.depthCount(track.id), 4); ++depth) {
            trace.summarize(track.id, depth, trace.range(), buckets);
            for (const LodBucket& bucket : buckets) {
                if (trace.string(bucket.name).size() > 1U << 30)
                    std::abort();
            }
        }
        std::size_t asked = 0;
        for (const Slice& slice : trace.sorted(track.id)) {
            if (trace.slice(slice.id).begin != slice.begin || trace.name(slice).size() > 1U << 30)
                std::abort();
            if (asked++ < 50) {
                static_cast<void>(trace.flowsOf(slice.id));
                static_cast<void>(trace.details(slice.id));
            }
        }
        static_cast<void>(trace.counter(track.id));
    }
    if (const auto search = NameSearch::make(shared, {"a"}))
        static_cast<void>(search->count(tracks));
}

} // namespace

std::shared_ptr<const Trace> readAnyPacked(const std::uint8_t* data, std::size_t size, std::uint64_t budget)
{
    const wire_test::MemoryFile file;
    container::ReadOptions options;
    options.memoryBudget = budget;
    options.threads = 1;
    if (budget != kDecodesOnDemand) // otherwise the trace itself is read on demand, as the preview is
        options.preview = ask;
    auto trace = container::readTrace(file.write(std::as_bytes(std::span{data, size})), options);
    if (!trace)
        return nullptr;
    ask(*trace);
    return std::move(*trace);
}

void readAnyPacked(const std::uint8_t* data, std::size_t size)
{
    for (const std::uint64_t budget : {kDecodesAll, kDecodesOnDemand})
        readAnyPacked(data, size, budget);
}
