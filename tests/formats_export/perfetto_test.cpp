#include "profiler/formats/format.h"
#include "profiler/model/trace_builder.h"
#include "tests/formats_export/exported.h"
#include "tests/formats_export/proto_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

// Field numbers are written out here, so that a wrong constant in the product does not confirm itself.
namespace formats_export_test {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

/// How a reader of Perfetto's packets sees a file: slices by track, from starts and ends.
struct PerfettoView {
    struct Slice {
        std::string name, category;
        std::uint64_t begin = 0, end = 0;
        std::size_t depth = 0;
    };
    struct Track {
        std::string name;
        std::uint64_t parent = 0, rank = 0;
        std::int64_t sortIndex = 0; ///< of a process or a thread
        std::vector<Slice> slices;
        std::vector<std::size_t> open;
        std::vector<std::pair<std::uint64_t, double>> samples;
    };
    std::map<std::uint64_t, Track> tracks;
    std::map<std::uint64_t, std::pair<int, int>> flows; ///< starts and ends by id
    int unbalanced = 0;

    explicit PerfettoView(const std::string& bytes)
    {
        const Message trace(bytes);
        EXPECT_TRUE(trace.whole());
        std::vector<Message> packets = trace.messages(1);
        EXPECT_FALSE(packets.empty());
        EXPECT_EQ(packets.front().number(13), 1U) << "the first packet clears the state";
        for (const Message& packet : packets)
            take(packet);
        // As Perfetto does: sorts all events by time; events at the same time keep the file's order.
        std::vector<Message> events;
        std::copy_if(packets.begin(), packets.end(), std::back_inserter(events),
                     [](const Message& packet) { return packet.has(11); });
        std::stable_sort(events.begin(), events.end(),
                         [](const Message& a, const Message& b) { return a.number(8) < b.number(8); });
        for (const Message& event : events)
            play(event.number(8), event.message(11));
        for (const auto& [uuid, track] : tracks)
            unbalanced += static_cast<int>(track.open.size());
    }

    [[nodiscard]] std::vector<const Track*> named(std::string_view name) const
    {
        std::vector<const Track*> result;
        for (const auto& [uuid, track] : tracks)
            if (track.name == name)
                result.push_back(&track);
        return result;
    }

private:
    void take(const Message& packet)
    {
        EXPECT_TRUE(packet.whole());
        EXPECT_EQ(packet.number(10), 1U);
        if (packet.has(60)) {
            const Message descriptor = packet.message(60);
            Track& track = tracks[descriptor.number(1)];
            track.parent = descriptor.number(5);
            track.name = descriptor.has(4)   ? std::string(descriptor.message(4).text(5))
                         : descriptor.has(3) ? std::string(descriptor.message(3).text(6))
                                             : std::string(descriptor.text(2));
            track.rank = descriptor.number(12);
            const std::uint32_t identity = descriptor.has(4) ? 4 : 3;
            if (descriptor.has(identity))
                track.sortIndex = static_cast<std::int64_t>(descriptor.message(identity).number(3));
            EXPECT_TRUE(track.parent == 0 || tracks.contains(track.parent)) << track.name;
        }
        const Message interned = packet.message(12);
        for (const Message& name : interned.messages(2))
            m_names[name.number(1)] = name.text(2);
        for (const Message& category : interned.messages(1))
            m_categories[category.number(1)] = category.text(2);
    }

    void play(std::uint64_t time, const Message& event)
    {
        ASSERT_TRUE(tracks.contains(event.number(11)));
        Track& track = tracks[event.number(11)];
        if (event.number(9) == 4) {
            track.samples.emplace_back(time, event.real(44));
        } else if (event.number(9) == 1) {
            for (const std::uint64_t id : event.numbers(47))
                ++flows[id].first;
            for (const std::uint64_t id : event.numbers(48))
                ++flows[id].second;
            ASSERT_TRUE(m_names.contains(event.number(10)));
            track.slices.push_back(
                {m_names[event.number(10)], m_categories[event.number(3)], time, 0, track.open.size()});
            track.open.push_back(track.slices.size() - 1);
        } else {
            ASSERT_EQ(event.number(9), 2U);
            ASSERT_FALSE(track.open.empty());
            track.slices[track.open.back()].end = time;
            track.open.pop_back();
        }
    }

    std::map<std::uint64_t, std::string> m_names, m_categories;
};

TEST(Perfetto, SlicesKeepTheirTimes)
{
    const PerfettoView view(exported(kTraining, "a.pftrace"));
    EXPECT_EQ(view.unbalanced, 0);
    const auto streams = view.named("stream 7");
    ASSERT_EQ(streams.size(), 1U);
    ASSERT_EQ(streams[0]->slices.size(), 12U);
    const PerfettoView::Slice& gemm = streams[0]->slices[1];
    EXPECT_EQ(gemm.name, "gemm");
    EXPECT_EQ(gemm.category, "kernel");
    EXPECT_EQ(gemm.begin, 30001U);
    EXPECT_EQ(gemm.end, 70124U);
}

TEST(Perfetto, NestingIsKept)
{
    const PerfettoView view(exported(kTraining, "a.pftrace"));
    const auto main = view.named("main thread");
    ASSERT_EQ(main.size(), 1U);
    const auto& slices = main[0]->slices;
    const auto at = [&](std::string_view name) {
        return std::find_if(slices.begin(), slices.end(), [&](const auto& slice) { return slice.name == name; });
    };
    EXPECT_EQ(at("step")->depth, 0U);
    EXPECT_EQ(at("aten::linear")->depth, 1U);
    EXPECT_EQ(at("aten::addmm")->depth, 2U);
    EXPECT_EQ(at("cudaLaunchKernel")->depth, 3U);
    EXPECT_EQ(view.tracks.at(main[0]->parent).name, "process 100");
}

TEST(Perfetto, OverlappingSlicesGetAnotherTrack)
{
    const PerfettoView view(exported(kTraining, "a.pftrace"));
    const auto streams = view.named("stream 9");
    ASSERT_EQ(streams.size(), 2U);
    EXPECT_EQ(streams[0]->slices.size(), 1U);
    EXPECT_EQ(streams[1]->slices.size(), 1U);
    EXPECT_EQ(streams[0]->parent, streams[1]->parent);
    EXPECT_EQ(view.tracks.at(streams[0]->parent).name, "device 0: NVIDIA H100");
}

TEST(Perfetto, ArrowsHaveTwoEnds)
{
    const PerfettoView view(exported(kTraining, "a.pftrace"));
    EXPECT_EQ(view.flows.size(), 12U); // 4 × (kernel, copy, backward)
    for (const auto& [id, ends] : view.flows)
        EXPECT_EQ(ends, std::pair(1, 1)) << id;
}

TEST(Perfetto, CountersKeepTheirValues)
{
    const PerfettoView view(exported(kTraining, "a.pftrace"));
    ASSERT_EQ(view.named("loss").size(), 1U);
    EXPECT_THAT(view.named("loss")[0]->samples,
                ElementsAre(std::pair(std::uint64_t{10000}, 2.5), std::pair(std::uint64_t{110000}, 1.25)));
}

TEST(Perfetto, TracksKeepTheRequestedOrder)
{
    const PerfettoView view(exported("thread a pid=1 tid=1 process=p sort=3 process_sort=-7\n op x 0 5\n"
                                     "thread b pid=1 tid=2 process=p sort=-2 process_sort=-7\n op x 0 5\n"
                                     "thread c pid=2 tid=3 process=q\n op x 0 5\n"
                                     "stream 0 7 sort=9 process_sort=-8\n kernel k 0 5\n"
                                     "stream 0 8 sort=4 process_sort=-8\n kernel k 0 5",
                                     "a.pftrace"));
    const auto only = [&](std::string_view name) {
        const auto found = view.named(name);
        EXPECT_EQ(found.size(), 1U) << name;
        return found.empty() ? PerfettoView::Track{} : *found.front();
    };
    EXPECT_EQ(only("p").sortIndex, -7);
    EXPECT_EQ(only("q").sortIndex, 0);
    EXPECT_EQ(only("a").sortIndex, 3);
    EXPECT_EQ(only("b").sortIndex, -2);
    EXPECT_LT(only("b").rank, only("a").rank);
    EXPECT_LT(only("stream 8").rank, only("stream 7").rank);
    EXPECT_EQ(static_cast<std::int64_t>(only("device 0").rank), -8);
}

TEST(Perfetto, NegativeTimesAreShifted)
{
    const PerfettoView view(exported("main\n op a -10 5\n op b 10 5", "a.pftrace"));
    const auto main = view.named("main thread");
    ASSERT_EQ(main.size(), 1U);
    EXPECT_EQ(main[0]->slices[0].begin, 0U);
    EXPECT_EQ(main[0]->slices[1].begin, 20000U);
}

TEST(Perfetto, EmptyAndAdjacentSlicesStayApart)
{
    const PerfettoView view(exported("main\n op a 0 10\n op b 10 0\n op c 10 5\n op d 15 0", "a.pftrace"));
    EXPECT_EQ(view.unbalanced, 0);
    const auto& slices = view.named("main thread")[0]->slices;
    ASSERT_EQ(slices.size(), 4U);
    for (const auto& slice : slices)
        EXPECT_EQ(slice.end - slice.begin, slice.name == "a" ? 10000U : slice.name == "c" ? 5000U : 0U) << slice.name;
}

TEST(Perfetto, AGraphLaunchHasAnArrowToEachKernel)
{
    const PerfettoView view(exported("main\n call cudaGraphLaunch 0 5 corr=7\nstream 0 7\n kernel a 10 5 corr=7\n"
                                     " kernel b 20 5 corr=7\n kernel c 30 5 corr=7",
                                     "a.pftrace"));
    EXPECT_EQ(view.flows.size(), 3U);
    for (const auto& [id, ends] : view.flows)
        EXPECT_EQ(ends, std::pair(1, 1)) << id;
}

// The slices of a recording arrive when they end, and its blocks are sealed in that order, so a nest of slices may span
// several blocks.
TEST(Perfetto, ALiveRecordedThreadStaysOnOneTrack)
{
    constexpr std::int64_t kInner = 140'000;
    profiler::TraceBuilder builder;
    profiler::Track main;
    main.kind = profiler::TrackKind::MainThread;
    main.name = "main thread";
    const profiler::TrackId track = builder.addTrack(std::move(main));
    profiler::Slice slice;
    slice.name = builder.intern("inner");
    slice.depth = 1;
    slice.duration = profiler::Nanoseconds{5};
    for (std::int64_t i = 0; i < kInner; ++i) {
        slice.begin = profiler::traceTime(10 + 10 * i);
        builder.add(track, slice);
    }
    slice.name = builder.intern("outer");
    slice.depth = 0;
    slice.begin = profiler::traceTime(0);
    slice.duration = profiler::Nanoseconds{10 * kInner + 100};
    builder.add(track, slice);
    const auto trace = builder.finish();
    const Folder folder;
    ASSERT_TRUE(profiler::formats::saveTrace(*trace, folder / "a.pftrace"));
    const PerfettoView view(bytesOf(folder / "a.pftrace"));
    EXPECT_EQ(view.unbalanced, 0);
    const auto rows = view.named("main thread");
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows[0]->slices.front().name, "outer");
    EXPECT_EQ(rows[0]->slices.back().depth, 1U);
}

TEST(Perfetto, ACounterMayStartBeforeTheFirstSlice)
{
    using namespace profiler;
    TraceBuilder builder;
    Track main;
    main.name = "main";
    Slice slice;
    slice.name = builder.intern("a");
    builder.add(builder.addTrack(main), slice);
    Track counter;
    counter.kind = TrackKind::Counter;
    counter.name = "load";
    const TrackId load = builder.addTrack(counter);
    builder.addSample(load, {traceTime(-100), 1});
    builder.addSample(load, {traceTime(50), 2});
    const Folder folder;
    ASSERT_TRUE(formats::saveTrace(*builder.finish(), folder / "a.pftrace"));
    const PerfettoView view(bytesOf(folder / "a.pftrace"));
    ASSERT_EQ(view.named("load").size(), 1U);
    EXPECT_THAT(view.named("load")[0]->samples,
                ElementsAre(std::pair(std::uint64_t{0}, 1.0), std::pair(std::uint64_t{150}, 2.0)));
}

} // namespace
} // namespace formats_export_test
