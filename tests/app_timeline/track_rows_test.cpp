#include "app/timeline/track_rows.h"
#include "tests/app_timeline/training_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace app {
namespace {

using namespace profiler;
using testing::ElementsAre;

std::vector<std::string> names(const TrackRows& rows)
{
    std::vector<std::string> all;
    for (const TrackRow& row : rows.all())
        all.push_back(row.name.toStdString());
    return all;
}

int rowNamed(const TrackRows& rows, const QString& name)
{
    for (std::size_t i = 0; i < rows.all().size(); ++i)
        if (rows.all()[i].name == name)
            return static_cast<int>(i);
    return -1;
}

TrackRows rowsOf(const test::TrainingShape& shape)
{
    TrackRows rows;
    rows.setTrace(test::trainingTrace(shape));
    return rows;
}

TrackId addTrack(TraceBuilder& builder, const Track& track, bool busy = true)
{
    const TrackId id = builder.addTrack(track);
    Slice slice;
    slice.begin = traceTime(100);
    slice.duration = Nanoseconds{10};
    slice.name = builder.intern("work");
    if (busy)
        builder.add(id, slice);
    return id;
}

TrackId addThread(TraceBuilder& builder, TrackKind kind, const std::string& name, std::int64_t pid, bool busy = true)
{
    Track track;
    track.kind = kind;
    track.name = name;
    track.pid = pid;
    return addTrack(builder, track, busy);
}

/// A stream whose slices cover a share of a thousand ns.
TrackId addStream(TraceBuilder& builder, std::uint32_t device, std::uint32_t number, std::int64_t busyNs)
{
    Track track;
    track.kind = TrackKind::Stream;
    track.name = "stream " + std::to_string(number);
    track.device = {device};
    track.stream = {number};
    const TrackId id = builder.addTrack(track);
    Slice slice;
    slice.begin = traceTime(0);
    slice.duration = Nanoseconds{busyNs};
    slice.name = builder.intern("work");
    builder.add(id, slice);
    return id;
}

TEST(TrackRows, AGroupInWhichHardlyAnythingHappensStartsCollapsed)
{
    const auto rowsOfStreams = [](std::int64_t first, std::int64_t second, bool live = false) {
        TraceBuilder builder;
        addStream(builder, 0, 7, first);
        addStream(builder, 0, 8, first);
        addStream(builder, 1, 7, second);
        addStream(builder, 1, 8, second);
        builder.captureStats().live = live;
        TrackRows rows;
        rows.setTrace(builder.snapshot());
        return names(rows);
    };
    EXPECT_THAT(rowsOfStreams(100'000, 200), ElementsAre("GPU 0", "stream 7", "stream 8", "GPU 1"));
    EXPECT_THAT(rowsOfStreams(100'000, 50'000),
                ElementsAre("GPU 0", "stream 7", "stream 8", "GPU 1", "stream 7", "stream 8"));
    EXPECT_EQ(rowsOfStreams(100'000, 200, true).size(), 6U) << "it may become busy";
}

TEST(TrackRows, AFilterShowsMatchingTracksAndTheirGroups)
{
    TraceBuilder builder;
    addThread(builder, TrackKind::MainThread, "main thread", 5);
    addThread(builder, TrackKind::Thread, "autograd", 5);
    addStream(builder, 0, 7, 1000);
    addStream(builder, 0, 8, 1000);
    addStream(builder, 1, 7, 1000);
    addStream(builder, 1, 9, 1000);
    TrackRows rows;
    rows.setTrace(builder.snapshot());
    const auto filtered = [&](const char* text) {
        rows.setFilter(*parseFilter(text, trackFilterFields()));
        return names(rows);
    };
    const auto all = names(rows);
    EXPECT_THAT(filtered("stream:7"), ElementsAre("GPU 0", "stream 7", "GPU 1", "stream 7"));
    EXPECT_THAT(filtered("gpu:1 -\"stream 9\""), ElementsAre("GPU 1", "stream 7"));
    EXPECT_THAT(filtered("\"gpu 1\""), ElementsAre("GPU 1", "stream 7", "stream 9")) << "the name of the group";
    EXPECT_THAT(filtered("kind:main,thread"), ElementsAre("main thread", "autograd"));
    EXPECT_THAT(filtered("nothing"), ElementsAre());
    rows.setFilter({});
    EXPECT_EQ(names(rows), all);
    // Collapsed groups are expanded while there is a filter, and pinned tracks stay.
    rows.setAllOpen(false);
    EXPECT_THAT(filtered("stream:9"), ElementsAre("GPU 1", "stream 9"));
    rows.setPinned(rowNamed(rows, "stream 9"), true);
    EXPECT_THAT(filtered("autograd"), ElementsAre("stream 9", "autograd"));
}

TEST(TrackRows, RevealingATrackRemovesTheFilterThatHidesIt)
{
    TraceBuilder builder;
    const TrackId autograd = addThread(builder, TrackKind::Thread, "autograd", 5);
    const TrackId stream = addStream(builder, 0, 7, 1000);
    TrackRows rows;
    rows.setTrace(builder.snapshot());
    rows.setFilter(*parseFilter("autograd", trackFilterFields()));
    rows.reveal(autograd, 0);
    EXPECT_FALSE(rows.droppedFilter());
    rows.reveal(stream, 0);
    EXPECT_TRUE(rows.droppedFilter());
    EXPECT_GE(rows.rowOf(stream), 0);
}

TEST(TrackRows, StretchToFillTheHeightWhenThereIsRoom)
{
    TrackRows rows = rowsOf({.steps = 3});
    const int natural = rows.height();
    rows.fill(natural / 2);
    EXPECT_EQ(rows.height(), natural) << "they are never below the usual value";
    const int room = natural * 3 / 2;
    rows.fill(room);
    EXPECT_LE(rows.height(), room);
    EXPECT_GT(rows.height(), room - 5) << "only less than a pixel per counter is left";
    const TrackRow& main = rows.at(rowNamed(rows, "main thread"));
    EXPECT_GT(main.laneHeight, TrackRows::kLaneHeight);
    EXPECT_EQ(main.height, main.lanes * main.laneHeight + 2 * TrackRows::kPadding);
    for (int i = 1; i < rows.count(); ++i)
        EXPECT_EQ(rows.at(i).top, rows.at(i - 1).bottom());
    const auto lane = rows.laneAt(main.laneTop(1) + main.laneHeight - 1);
    ASSERT_TRUE(lane);
    EXPECT_EQ(lane->depth, 1);
    rows.fill(natural * 20);
    EXPECT_EQ(rows.at(rowNamed(rows, "main thread")).laneHeight, TrackRows::kMostStretch * TrackRows::kLaneHeight);
    rows.fill(natural);
    EXPECT_EQ(rows.height(), natural) << "and they shrink again";
}

TEST(TrackRows, AResizedCounterKeepsItsHeightWhenTheOthersStretch)
{
    TrackRows rows = rowsOf({.steps = 3});
    rows.resize(rowNamed(rows, "loss"), 70);
    rows.fill(rows.height() * 3 / 2);
    EXPECT_EQ(rows.at(rowNamed(rows, "loss")).height, 70);
    EXPECT_GT(rows.at(rowNamed(rows, "memory")).height, TrackRows::kCounterHeight);
}

TEST(TrackRows, AreInDefaultOrder)
{
    const TrackRows rows = rowsOf({.steps = 3});
    EXPECT_THAT(names(rows), ElementsAre("Loader workers", "loader worker 0", "loader worker 1", "main thread", "GPU 0",
                                         "stream 7", "stream 14", "Counters", "loss", "memory"));
}

TEST(TrackRows, AreStackedWithoutGaps)
{
    const TrackRows rows = rowsOf({.steps = 3});
    int top = 0;
    for (std::size_t i = 0; i < rows.all().size(); ++i) {
        EXPECT_EQ(rows.all()[i].top, top);
        EXPECT_EQ(rows.rowAt(top), static_cast<int>(i));
        top += rows.all()[i].height;
        EXPECT_EQ(rows.rowAt(top - 1), static_cast<int>(i));
    }
    EXPECT_EQ(rows.height(), top);
    EXPECT_EQ(rows.rowAt(top), -1);
    EXPECT_EQ(rows.rowAt(-1), -1);
}

TEST(TrackRows, AProfilersGpuProcessIsNotAProcess)
{
    TraceBuilder builder;
    addThread(builder, TrackKind::MainThread, "main thread", 4711);
    for (const std::uint32_t device : {1U, 0U}) {
        Track stream;
        stream.kind = TrackKind::Stream;
        stream.name = "stream 7";
        stream.device = {device};
        stream.pid = device;
        addTrack(builder, stream);
    }
    TrackRows rows;
    rows.setTrace(builder.finish());
    EXPECT_THAT(names(rows), ElementsAre("main thread", "GPU 0", "stream 7", "GPU 1", "stream 7"));
}

TEST(TrackRows, FollowTheSortIndexOfTheFile)
{
    TraceBuilder builder;
    for (const auto& [name, wish] : {std::pair("a", 3), std::pair("b", 1), std::pair("c", 2), std::pair("d", 1)}) {
        Track track;
        track.kind = TrackKind::LoaderWorker;
        track.name = name;
        track.sortIndex = wish;
        addTrack(builder, track);
    }
    TrackRows rows;
    rows.setTrace(builder.finish());
    EXPECT_THAT(names(rows), ElementsAre("Loader workers", "b", "d", "c", "a"));
}

/// Adds a track with a slice or a sample, for a process and a device with these sort indices.
void addOf(TraceBuilder& builder, TrackKind kind, const char* name, std::int64_t pid, std::int32_t wish,
           std::uint32_t device = 0)
{
    Track track;
    track.kind = kind;
    track.name = name;
    track.pid = pid;
    track.processSortIndex = wish;
    track.device = {device};
    addTrack(builder, track);
}

TEST(TrackRows, ProcessesFollowTheSortIndexOfTheFile)
{
    TraceBuilder builder;
    addOf(builder, TrackKind::MainThread, "main", 10, 30);
    addOf(builder, TrackKind::MainThread, "main", 20, -1);
    addOf(builder, TrackKind::MainThread, "main", 30, 30);
    addOf(builder, TrackKind::Stream, "stream 7", 0, 30, 0);
    addOf(builder, TrackKind::Stream, "stream 7", 1, 5, 1);
    TrackRows rows;
    rows.setTrace(builder.finish());
    EXPECT_THAT(names(rows), ElementsAre("Process 20 · main", "GPU 1", "stream 7", "Process 10 · main",
                                         "Process 30 · main", "GPU 0", "stream 7"));
}

TEST(TrackRows, AProcessThatHasOnlyCountersComesLast)
{
    TraceBuilder builder;
    addOf(builder, TrackKind::Counter, "core 0 load", 10, 0);
    addOf(builder, TrackKind::Counter, "disk read", 10, 0);
    addOf(builder, TrackKind::MainThread, "main", 20, 0);
    addOf(builder, TrackKind::Counter, "loss", 20, 0);
    addOf(builder, TrackKind::Stream, "stream 7", 0, 5000, 0);
    TrackRows rows;
    rows.setTrace(builder.finish());
    EXPECT_THAT(names(rows), ElementsAre("Process 20", "main", "Counters", "loss", "GPU 0", "stream 7", "Process 10",
                                         "Counters", "core 0 load", "disk read"));
}

TEST(TrackRows, TheTrainingThreadPrecedesSpansOfAProcessWithoutASortIndex)
{
    TraceBuilder builder;
    addOf(builder, TrackKind::MainThread, "main", 4711, 4711);
    addOf(builder, TrackKind::Thread, "autograd", 4711, 4711);
    addOf(builder, TrackKind::Thread, "PyTorch Profiler", 0, 0);
    addOf(builder, TrackKind::Stream, "stream 7", 0, 5000000, 0);
    TrackRows rows;
    rows.setTrace(builder.finish());
    const auto all = names(rows);
    ASSERT_FALSE(all.empty());
    EXPECT_THAT(all.front(), testing::HasSubstr("main"));
}

TEST(TrackRows, DevicesFollowTheSortIndexNextToTheOnlyProcess)
{
    for (const auto& [host, first, second] : {std::tuple(4711, 16777216, 16777217), std::tuple(4711, 9, 8)}) {
        TraceBuilder builder;
        addOf(builder, TrackKind::Counter, "load", 4711, host);
        addOf(builder, TrackKind::MainThread, "main", 4711, host);
        addOf(builder, TrackKind::LoaderWorker, "worker", 4711, host);
        addOf(builder, TrackKind::Stream, "stream 7", 0, first, 0);
        addOf(builder, TrackKind::Stream, "stream 7", 1, second, 1);
        TrackRows rows;
        rows.setTrace(builder.finish());
        if (first > host)
            EXPECT_THAT(names(rows), ElementsAre("Loader workers", "worker", "main", "GPU 0", "stream 7", "GPU 1",
                                                 "stream 7", "Counters", "load"));
        else
            EXPECT_THAT(names(rows), ElementsAre("GPU 1", "stream 7", "GPU 0", "stream 7", "Loader workers", "worker",
                                                 "main", "Counters", "load"));
    }
}

TEST(TrackRows, CountNumbersNotLetters)
{
    TraceBuilder builder;
    for (const char* name : {"loader worker 10", "loader worker 2", "loader worker 1"})
        addThread(builder, TrackKind::LoaderWorker, name, 1);
    TrackRows rows;
    rows.setTrace(builder.finish());
    EXPECT_THAT(names(rows), ElementsAre("Loader workers", "loader worker 1", "loader worker 2", "loader worker 10"));
}

TEST(TrackRows, LeaveOutEmptyTracks)
{
    TraceBuilder builder;
    addThread(builder, TrackKind::MainThread, "main thread", 1);
    addThread(builder, TrackKind::Thread, "silent", 1, false);
    TrackRows rows;
    rows.setTrace(builder.finish());
    EXPECT_THAT(names(rows), ElementsAre("main thread"));
}

TEST(TrackRows, DistinguishProcesses)
{
    TraceBuilder builder;
    addThread(builder, TrackKind::MainThread, "main thread", 20);
    addThread(builder, TrackKind::MainThread, "main thread", 10);
    TrackRows rows;
    rows.setTrace(builder.finish());
    EXPECT_THAT(names(rows), ElementsAre("Process 10 · main thread", "Process 20 · main thread"));
}

TEST(TrackRows, NestThreadsBelowTheirProcess)
{
    TraceBuilder builder;
    for (const std::int64_t pid : {20, 10}) {
        addThread(builder, TrackKind::MainThread, "main thread", pid);
        addThread(builder, TrackKind::LoaderWorker, "loader worker 0", pid);
    }
    Track named;
    named.kind = TrackKind::Thread;
    named.name = "helper";
    named.pid = 10;
    named.processName = "python";
    const TrackId id = builder.addTrack(named);
    Slice slice;
    slice.duration = Nanoseconds{10};
    slice.name = builder.intern("work");
    builder.add(id, slice);
    TrackRows rows;
    rows.setTrace(builder.finish());
    EXPECT_THAT(names(rows), ElementsAre("python (10)", "Loader workers", "loader worker 0", "main thread", "helper",
                                         "Process 20", "Loader workers", "loader worker 0", "main thread"));
    EXPECT_EQ(rows.at(2).indent, 2);
    EXPECT_EQ(rows.at(3).indent, 1);
    rows.setOpen(0, false);
    EXPECT_EQ(rows.rowOf(id), 0) << "the collapsed process represents it";
    EXPECT_EQ(rows.at(0).members.size(), 3U);
}

TEST(TrackRows, PutAnnotationsNextToTheStreamsAndNvtxAbove)
{
    TraceBuilder builder;
    const auto add = [&](TrackKind kind, const char* name) {
        Track track;
        track.kind = kind;
        track.name = name;
        const TrackId id = builder.addTrack(track);
        Slice slice;
        slice.duration = Nanoseconds{10};
        slice.name = builder.intern("work");
        builder.add(id, slice);
    };
    add(TrackKind::Stream, "stream 7");
    add(TrackKind::Annotation, "annotations");
    add(TrackKind::NvtxDomain, "NCCL");
    TrackRows rows;
    rows.setTrace(builder.finish());
    EXPECT_THAT(names(rows), ElementsAre("NVTX ranges", "NCCL", "GPU 0", "annotations", "stream 7"));
}

TEST(TrackRows, CollapseManyOtherThreadsAtFirst)
{
    TraceBuilder builder;
    for (int i = 0; i < 9; ++i)
        addThread(builder, TrackKind::Thread, "thread " + std::to_string(i), 1);
    TrackRows rows;
    rows.setTrace(builder.finish());
    EXPECT_THAT(names(rows), ElementsAre("Other threads"));
    rows.setOpen(0, true);
    EXPECT_EQ(rows.all().size(), 10U);
}

TEST(TrackRows, KeepCollapsedRowsInLaterSnapshots)
{
    TrackRows rows = rowsOf({.steps = 3, .live = true});
    rows.setOpen(0, false);
    ASSERT_EQ(rowNamed(rows, "loader worker 0"), -1);
    rows.setTrace(test::trainingTrace({.steps = 5, .live = true}));
    EXPECT_EQ(rowNamed(rows, "loader worker 0"), -1);
}

TEST(TrackRows, ACollapsedMainThreadShowsItsPhases)
{
    TrackRows rows = rowsOf({.steps = 3});
    const int main = rowNamed(rows, "main thread");
    const TrackId track = rows.all()[static_cast<std::size_t>(main)].track;
    EXPECT_TRUE(rows.shows(track, 3));
    rows.setOpen(main, false);
    EXPECT_TRUE(rows.shows(track, 1));
    EXPECT_FALSE(rows.shows(track, 0));
    EXPECT_FALSE(rows.shows(track, 3));
    const TrackRow& row = rows.all()[static_cast<std::size_t>(main)];
    const auto lane = rows.laneAt(row.laneTop(1) + 2);
    ASSERT_TRUE(lane);
    EXPECT_EQ(lane->depth, 1);
}

TEST(TrackRows, FindTheLaneOfADepth)
{
    const TrackRows rows = rowsOf({.steps = 3});
    const TrackRow& row = rows.all()[static_cast<std::size_t>(rowNamed(rows, "main thread"))];
    for (int depth = 0; depth < row.lanes; ++depth) {
        const auto lane = rows.laneAt(row.laneTop(depth) + 5);
        ASSERT_TRUE(lane);
        EXPECT_EQ(lane->track, row.track);
        EXPECT_EQ(lane->depth, depth);
    }
    EXPECT_FALSE(rows.laneAt(row.top));
    EXPECT_FALSE(rows.laneAt(rows.all()[0].top + 4)) << "a group has no lanes";
}

TEST(TrackRows, RevealExpandsTheGroupsOfASlice)
{
    TrackRows rows = rowsOf({.steps = 3});
    const TrackId worker = rows.all()[static_cast<std::size_t>(rowNamed(rows, "loader worker 1"))].track;
    const TrackId main = rows.all()[static_cast<std::size_t>(rowNamed(rows, "main thread"))].track;
    rows.setAllOpen(false);
    EXPECT_EQ(rows.rowOf(worker), 0) << "its collapsed group represents it";
    rows.reveal(worker, 0);
    EXPECT_TRUE(rows.shows(worker, 0));
    rows.reveal(main, 3);
    EXPECT_TRUE(rows.shows(main, 3));
}

} // namespace
} // namespace app
