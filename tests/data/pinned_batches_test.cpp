#include "profiler/analysis/loader/loader_work.h"
#include "profiler/capture/recorder.h"
#include "profiler/formats/container/trace_reader.h"
#include "profiler/model/activity.h"
#include "tests/data/image_files.h"
#include "tests/data/numbered_dataset.h"

#include <gtest/gtest.h>
#include <map>

namespace data_test {
namespace {

using namespace profiler;
using namespace trainer::data;

/// Steps that do nothing but take pinned batches, recorded and read again.
std::shared_ptr<const Trace> recordSteps(const TemporaryFolder& folder, int workers, std::int64_t samples)
{
    const auto path = folder / "run.sstrace";
    auto recorder = capture::Recorder::start({.path = path});
    EXPECT_TRUE(recorder);
    capture::ThreadBuffer& lane = (*recorder)->nameThisThread("main thread", TrackKind::MainThread);
    const CountedMemory memory;
    {
        Loader loader(
            std::make_shared<NumberedDataset>(samples),
            {.batchSize = 4, .workers = workers, .memory = memory.allocator(true), .recorder = recorder->get()});
        std::int64_t step = 0;
        for (std::int64_t epoch = 0; epoch < 12; ++epoch) {
            loader.startEpoch(epoch);
            for (std::int64_t batch = 0; batch < loader.batchesPerEpoch(); ++batch) {
                const capture::OpenRange range(&lane, ActivityKind::Step, lane.intern("step"), step++);
                EXPECT_TRUE(loader.next());
            }
        }
    }
    EXPECT_TRUE((*recorder)->finish());
    const auto trace = container::readTrace(path);
    EXPECT_TRUE(trace);
    return *trace;
}

TEST(PinnedBatches, APinBelongsToTheBatchThatItMadeRoomFor)
{
    for (const int workers : {1, 2}) {
        const TemporaryFolder folder;
        const auto trace = recordSteps(folder, workers, 40);
        const auto batches = analysis::loadedBatches(*trace, analysis::findSteps(*trace));
        ASSERT_GT(batches.size(), 10U);
        for (const analysis::LoadedBatch& batch : batches) {
            std::map<std::string, std::vector<std::int64_t>> numbers;
            for (const Slice& stage : batch.stages)
                numbers[std::string(trace->name(stage))].push_back(stage.args.value);
            EXPECT_EQ(numbers["pin"].size(), 1U) << workers << " workers";
            EXPECT_EQ(numbers["pin"], numbers["collate"]) << workers << " workers";
        }
    }
}

} // namespace
} // namespace data_test
