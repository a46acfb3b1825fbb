#include "tests/profiler/packed_trace.h"

#include "profiler/model/trace_builder.h"

#include <gtest/gtest.h>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace packed_test {

using namespace profiler;

std::shared_ptr<const Trace> training(std::int64_t slices, std::uint32_t threads)
{
    std::minstd_rand random;
    TraceBuilder builder;
    std::vector<std::uint32_t> names, args;
    for (int i = 0; i < 150; ++i) {
        names.push_back(builder.intern("aten::op_" + std::to_string(i)).value);
        SliceArgs some;
        some.bytes = i * 1000;
        some.shapes = builder.intern("[[" + std::to_string(i) + ", 3]]");
        args.push_back(builder.internArgs(some));
    }
    for (std::uint32_t thread = 0; thread < threads; ++thread) {
        Track track;
        track.name = "thread " + std::to_string(thread);
        track.pid = 7;
        const TrackId id = builder.addTrack(track);
        std::vector<RawSlice> made;
        for (std::int64_t i = 0; i < slices / threads; ++i) {
            const std::int64_t turn = i % 8;
            const std::int64_t base = i / 8 * 4000;
            RawSlice slice;
            slice.begin = base + turn * 450;
            slice.duration = turn == 0 ? 3990 : 20 + static_cast<std::int64_t>(random() % 400);
            slice.kind = turn == 3 ? ActivityKind::CudaRuntime : ActivityKind::CpuOp;
            slice.link = turn == 3 ? i + 1 : i / 8;
            slice.name = names[random() % names.size()];
            slice.args = args[random() % args.size()];
            slice.external = static_cast<std::uint32_t>(i);
            made.push_back(slice);
        }
        builder.addMany(id, std::move(made), Depth::Inferred);
    }
    return builder.finish(2);
}

void expectSame(const Trace& a, const Trace& b)
{
    ASSERT_EQ(a.sliceCount(), b.sliceCount());
    for (const Track& track : a.tracks()) {
        const auto some = a.sorted(track.id);
        const auto others = b.sorted(track.id);
        ASSERT_EQ(some.size(), others.size());
        for (std::size_t i = 0; i < some.size(); ++i) {
            const Slice& x = some[i];
            const Slice& y = others[i];
            const bool same = x.id == y.id && x.begin == y.begin && x.duration == y.duration && x.kind == y.kind &&
                              x.depth == y.depth && x.flags == y.flags && x.correlation == y.correlation &&
                              x.sequence == y.sequence && x.externalId == y.externalId && x.args == y.args &&
                              a.name(x) == b.name(y);
            ASSERT_TRUE(same) << "slice " << i << " of " << track.name;
        }
        for (std::uint32_t i = 0; i < some.size(); i += 9973) {
            ASSERT_EQ(a.slice({track.id, i}).begin, some[i].begin);
            ASSERT_EQ(a.flowsOf({track.id, i}).size(), b.flowsOf({track.id, i}).size());
        }
    }
}

} // namespace packed_test
