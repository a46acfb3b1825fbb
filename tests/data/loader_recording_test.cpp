#include "profiler/capture/recorder.h"
#include "profiler/formats/container/trace_reader.h"
#include "profiler/model/activity.h"
#include "tests/data/image_files.h"
#include "tests/data/numbered_dataset.h"
#include "trainer/data/image_folder.h"

#include <gmock/gmock.h>
#include <map>
#include <set>
#include <thread>

namespace data_test {
namespace {

using namespace profiler;
using namespace trainer::data;
using testing::AllOf;
using testing::Each;
using testing::Ge;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

/// Eight images in two classes, none of them for validation.
std::shared_ptr<const Dataset> eightImages(const TemporaryFolder& folder)
{
    for (int i = 0; i < 8; ++i)
        writeJpeg(folder / (i % 2 == 0 ? "a" : "b") / (std::to_string(i) + ".jpg"), plainImage({40, 30}, {90, 90, 90}));
    auto tree = scanImageTree(folder.path(), 0, {}, {});
    return std::make_shared<FolderDataset>(std::move(*tree), 16);
}

struct Recorded {
    std::shared_ptr<const Trace> trace;
    /// Names of the slices of one kind on a track of this name.
    [[nodiscard]] std::multiset<std::string> names(std::string_view track, ActivityKind kind) const
    {
        std::multiset<std::string> found;
        for (const Slice& slice : trace->ofKind(kind))
            if (trace->track(slice.id.track).name == track)
                found.emplace(trace->name(slice));
        return found;
    }
};

/// Two epochs, recorded.
Recorded record(const TemporaryFolder& folder, const std::shared_ptr<const Dataset>& dataset, int workers,
                bool persistent, bool pinned = false)
{
    const auto path = folder / "run.sstrace";
    auto recorder = capture::Recorder::start({.path = path});
    EXPECT_TRUE(recorder);
    (*recorder)->nameThisThread("main thread", TrackKind::MainThread);
    {
        const CountedMemory memory;
        Loader loader(dataset, {.batchSize = 4,
                                .workers = workers,
                                .persistentWorkers = persistent,
                                .memory = memory.allocator(pinned),
                                .recorder = recorder->get()});
        for (std::int64_t epoch = 0; epoch < 2; ++epoch) {
            loader.startEpoch(epoch);
            while (loader.next()) {
            }
        }
    }
    EXPECT_TRUE((*recorder)->finish());
    auto trace = container::readTrace(path);
    EXPECT_TRUE(trace);
    return {*trace};
}

TEST(LoaderRecording, StagesAreOnTheWorkersTracks)
{
    const TemporaryFolder folder;
    const auto dataset = eightImages(folder);
    const Recorded run = record(folder, dataset, 2, false, true);
    std::multiset<std::string> names;
    std::set<std::string> tracks;
    for (const Slice& slice : run.trace->ofKind(ActivityKind::LoaderStage)) {
        const Track& track = run.trace->track(slice.id.track);
        names.emplace(run.trace->name(slice));
        tracks.insert(track.name);
        EXPECT_EQ(track.kind, TrackKind::LoaderWorker);
    }
    EXPECT_THAT(tracks, AllOf(testing::Not(IsEmpty()), Each(testing::StartsWith("loader worker "))));
    for (const std::string_view perSample : {stage::kRead, stage::kDecode, stage::kAugment})
        EXPECT_EQ(names.count(std::string(perSample)), 16U) << perSample;
    for (const std::string_view perBatch : {stage::kCollate, stage::kPin})
        EXPECT_EQ(names.count(std::string(perBatch)), 4U) << perBatch;
}

TEST(LoaderRecording, WithoutWorkersStagesAreOnTheCallersTrack)
{
    const TemporaryFolder folder;
    const Recorded run = record(folder, eightImages(folder), 0, false);
    const auto names = run.names("main thread", ActivityKind::LoaderStage);
    EXPECT_EQ(names.size(), 16U * 3 + 4);
    EXPECT_EQ(names.count(std::string(stage::kPin)), 0U);
    EXPECT_THAT(run.names("main thread", ActivityKind::Phase), IsEmpty());
    EXPECT_THAT(run.trace->ofKind(ActivityKind::LoaderWait), IsEmpty());
}

TEST(LoaderRecording, StagesHaveTheirSampleOrBatchAndReadsTheirBytes)
{
    const TemporaryFolder folder;
    const Recorded run = record(folder, eightImages(folder), 1, false);
    std::map<std::string, std::multiset<std::int64_t>, std::less<>> values;
    for (const Slice& slice : run.trace->ofKind(ActivityKind::LoaderStage)) {
        values[std::string(run.trace->name(slice))].insert(slice.args.value);
        if (run.trace->name(slice) == stage::kRead) {
            EXPECT_GT(slice.args.bytes, 100);
        }
    }
    EXPECT_THAT(values[std::string(stage::kDecode)],
                UnorderedElementsAre(0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7));
    EXPECT_THAT(values[std::string(stage::kCollate)], UnorderedElementsAre(0, 0, 1, 1));
}

TEST(LoaderRecording, StartingWorkersIsAPhaseOfTheCaller)
{
    const TemporaryFolder folder;
    const auto dataset = eightImages(folder);
    const std::string start(phase::kWorkerStart);
    EXPECT_EQ(record(folder, dataset, 2, false).names("main thread", ActivityKind::Phase).count(start), 2U);
    EXPECT_EQ(record(folder, dataset, 2, true).names("main thread", ActivityKind::Phase).count(start), 1U);
}

TEST(LoaderRecording, RestartedWorkersStayOnTheirTracks)
{
    const TemporaryFolder folder;
    const Recorded run = record(folder, eightImages(folder), 2, false);
    std::multiset<std::string> workers;
    for (const Track& track : run.trace->tracks())
        if (track.kind == TrackKind::LoaderWorker)
            workers.insert(track.name);
    EXPECT_THAT(workers, UnorderedElementsAre("loader worker 0", "loader worker 1"));
}

TEST(LoaderRecording, WaitsNameWhatTheyWaitFor)
{
    const TemporaryFolder folder;
    const auto path = folder / "run.sstrace";
    auto recorder = capture::Recorder::start({.path = path});
    ASSERT_TRUE(recorder);
    const auto dataset = std::make_shared<NumberedDataset>(12);
    {
        Loader loader(dataset, {.batchSize = 4,
                                .workers = 1,
                                .prefetchFactor = 1,
                                .persistentWorkers = true,
                                .recorder = recorder->get()});
        const auto rest = [] { std::this_thread::sleep_for(std::chrono::milliseconds(100)); };
        loader.startEpoch(0);
        while (dataset->begun() < 4)
            std::this_thread::yield();
        rest(); // the ring is full
        loader.park();
        rest();
        loader.unpark();
        while (loader.next()) {
        }
        rest(); // persistent: no work
    }
    ASSERT_TRUE((*recorder)->finish());
    const auto trace = container::readTrace(path);
    ASSERT_TRUE(trace);
    std::map<std::string, Nanoseconds, std::less<>> longest;
    for (const Slice& slice : (*trace)->ofKind(ActivityKind::LoaderWait)) {
        auto& duration = longest[std::string((*trace)->name(slice))];
        duration = std::max(duration, slice.duration);
        EXPECT_FALSE(slice.is(slice_flag::kOpen));
    }
    constexpr auto kRest = std::chrono::milliseconds(10);
    EXPECT_THAT(longest, testing::ElementsAre(testing::Pair("no work", Ge(kRest)), testing::Pair("parked", Ge(kRest)),
                                              testing::Pair("ring full", Ge(kRest))));
}

} // namespace
} // namespace data_test
