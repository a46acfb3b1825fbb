#include "profiler/capture/recorder.h"
#include "profiler/formats/container/trace_reader.h"
#include "profiler/model/activity.h"
#include "tests/data/image_files.h"
#include "tests/data/sample_access.h"
#include "tests/support/failing_memory.h"
#include "trainer/data/loader.h"
#include "trainer_data_datasets_registry.h"

#include <gmock/gmock.h>
#include <map>
#include <ostream>
#include <set>

namespace data_test {
namespace {

namespace fs = std::filesystem;
using namespace trainer::data;

/// A dataset that is generated, and what its loading shows in a trace.
struct Kind {
    std::string name;
    std::set<std::string> stages;
    bool inMemory = false; ///< a sample is not a separate file: loading it allocates nothing
    friend void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }
};

const std::vector<Kind>& kinds()
{
    static const std::vector<Kind> all = {
        {"generated_images", {"read", "decode", "augment", "collate"}},
        {"mnist", {"augment", "collate"}, true},
        {"cifar10", {"augment", "collate"}, true},
        {"text", {"augment", "decode", "collate"}, true},
        {"csv", {"read", "collate"}, true},
        {"arrays", {"read", "decode", "collate"}, true},
        {"stream", {"read", "decode", "augment", "collate"}},
    };
    return all;
}

class EveryDataset : public testing::TestWithParam<Kind> {
protected:
    std::shared_ptr<const Dataset> open()
    {
        const auto dataset = openDataset(GetParam().name, configOf({{"dataset.samples", "40"},
                                                                    {"dataset.classes", "4"},
                                                                    {"dataset.source_size", "32"},
                                                                    {"dataset.image_size", "16"},
                                                                    {"dataset.context", "16"}}));
        EXPECT_TRUE(dataset) << dataset.error().message();
        return dataset ? *dataset : nullptr;
    }
    static LoaderOptions options(int workers)
    {
        return {.batchSize = 4, .workers = workers, .persistentWorkers = true, .seed = 3};
    }
    TemporaryFolder m_folder;
    OwnCache m_cache{m_folder.path()};
};

/// All bytes of an epoch's batches.
std::vector<std::vector<std::byte>> bytesOf(Loader& loader, const SampleSpec& spec, std::int64_t epoch)
{
    std::vector<std::vector<std::byte>> batches;
    loader.startEpoch(epoch);
    while (const auto batch = loader.next()) {
        EXPECT_TRUE(batch->bad.empty()) << batch->bad[0].what;
        const auto count = static_cast<std::size_t>(batch->count);
        auto& bytes =
            batches.emplace_back(batch->memory->inputs[0], batch->memory->inputs[0] + count * spec.inputs[0].bytes());
        bytes.insert(bytes.end(), batch->memory->target, batch->memory->target + count * spec.target.bytes());
    }
    return batches;
}

TEST_P(EveryDataset, IsGeneratedOnceAndReportsItsShapes)
{
    const auto dataset = open();
    ASSERT_TRUE(dataset);
    EXPECT_GE(dataset->size(Split::Train), 20);
    EXPECT_GE(dataset->size(Split::Validation), 2);
    EXPECT_GT(dataset->spec().inputs[0].elements(), 0);
    EXPECT_GT(dataset->spec().classes, 1);
    std::map<fs::path, fs::file_time_type> before;
    for (const auto& entry : fs::recursive_directory_iterator(m_folder.path()))
        if (entry.is_regular_file())
            before[entry.path()] = entry.last_write_time();
    EXPECT_FALSE(before.empty()) << "samples are in real files";
    ASSERT_TRUE(open());
    for (const auto& [path, time] : before)
        EXPECT_EQ(fs::last_write_time(path), time) << path;
}

TEST_P(EveryDataset, GivesTheSameBatchesWithAnyNumberOfWorkers)
{
    const auto dataset = open();
    ASSERT_TRUE(dataset);
    Loader alone(dataset, options(0));
    const auto first = bytesOf(alone, dataset->spec(), 0), second = bytesOf(alone, dataset->spec(), 1);
    EXPECT_NE(first, second) << "order or augmentation differs by epoch";
    for (const int workers : {1, 4}) {
        Loader loader(dataset, options(workers));
        EXPECT_EQ(bytesOf(loader, dataset->spec(), 0), first) << workers << " workers";
        EXPECT_EQ(bytesOf(loader, dataset->spec(), 1), second) << workers << " workers";
    }
}

TEST_P(EveryDataset, ShowsItsStagesOnTheWorkersTracks)
{
    const auto dataset = open();
    ASSERT_TRUE(dataset);
    const auto path = m_folder / "run.sstrace";
    auto recorder = profiler::capture::Recorder::start({.path = path});
    ASSERT_TRUE(recorder);
    {
        LoaderOptions wanted = options(2);
        wanted.recorder = recorder->get();
        Loader loader(dataset, wanted);
        bytesOf(loader, dataset->spec(), 0);
    }
    ASSERT_TRUE((*recorder)->finish());
    const auto trace = profiler::container::readTrace(path);
    ASSERT_TRUE(trace);
    std::set<std::string> seen;
    for (const profiler::Slice& slice : (*trace)->ofKind(profiler::ActivityKind::LoaderStage)) {
        EXPECT_TRUE((*trace)->track(slice.id.track).name.starts_with("loader worker"));
        seen.emplace((*trace)->name(slice));
    }
    EXPECT_EQ(seen, GetParam().stages);
}

TEST_P(EveryDataset, AllocatesNothingPerBatchInSteadyState)
{
    const auto dataset = open();
    ASSERT_TRUE(dataset);
    Loader loader(dataset, options(0));
    for (const std::int64_t epoch : {0, 1}) {
        loader.startEpoch(epoch);
        // The first epoch makes the memory that the second uses again.
        const std::int64_t before = test_support::allocationsOfThisThread();
        std::int64_t batches = 0;
        while (loader.next())
            ++batches;
        ASSERT_GT(batches, 4);
        if (epoch == 1 && GetParam().inMemory) {
            EXPECT_EQ(test_support::allocationsOfThisThread() - before, 0);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Kinds, EveryDataset, testing::ValuesIn(kinds()),
                         [](const auto& test) { return test.param.name; });

TEST(EveryDataset, IsInTheListAbove)
{
    std::set<std::string> listed = {"image_folder"}; // has no generated form but generated_images
    for (const Kind& kind : kinds())
        listed.insert(kind.name);
    for (const auto& entry : trainer::datasets::all())
        EXPECT_EQ(listed.count(std::string(entry.stem)), 1U) << entry.stem;
}

} // namespace
} // namespace data_test
