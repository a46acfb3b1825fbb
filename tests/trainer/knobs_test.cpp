#include "tests/trainer/knobs.h"

#include "trainer/config/training_config.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

using namespace trainer_test;
using testing::HasSubstr;
namespace fs = std::filesystem;

namespace {

std::vector<Observable> allKnobs()
{
    auto all = dataKnobs();
    for (auto* more : {datasetKnobs, modelKnobs, stepKnobs, updateKnobs, workKnobs})
        for (Observable& knob : more())
            all.push_back(std::move(knob));
    return all;
}

class EveryKnob : public testing::TestWithParam<Observable> {
protected:
    static Seen with(const Observable& knob, const std::string& value)
    {
        const TestFolder folder;
        auto settings = knob.around;
        settings.push_back(knob.key + "=" + value);
        Seen seen{train(folder.path(), settings)};
        EXPECT_EQ(seen.run.ended.status, 0) << seen.run.ended.output;
        return seen;
    }
};

TEST_P(EveryKnob, MakesADifferenceThatCanBeObserved)
{
    const Observable& knob = GetParam();
    const double a = knob.number(with(knob, knob.a)), b = knob.number(with(knob, knob.b));
    SCOPED_TRACE(knob.what + " with " + knob.key + " = " + knob.a + " and " + knob.b);
    switch (knob.expect) {
    case Observable::Expect::Less:
        EXPECT_LT(a, b);
        break;
    case Observable::Expect::Greater:
        EXPECT_GT(a, b);
        break;
    case Observable::Expect::Differs:
        EXPECT_NE(a, b);
        break;
    }
}

std::string nameOf(const testing::TestParamInfo<Observable>& test)
{
    std::string name = test.param.key;
    std::ranges::replace(name, '.', '_');
    return name;
}

INSTANTIATE_TEST_SUITE_P(Knobs, EveryKnob, testing::ValuesIn(allKnobs()), nameOf);

TEST(Knobs, DatasetKindAndPathChooseTheData)
{
    const TestFolder folder;
    ASSERT_EQ(train(folder.path()).ended.status, 0);
    // What the generator wrote is a folder of images by class like any other.
    fs::path classes;
    for (const auto& entry : fs::recursive_directory_iterator(folder.path() / "images"))
        if (entry.path().extension() == ".jpg" || entry.path().extension() == ".jpeg")
            classes = entry.path().parent_path().parent_path();
    ASSERT_FALSE(classes.empty()) << "dataset.path says where the images go";
    const auto found =
        train(folder.path(), {"dataset.kind=image_folder", "dataset.path=" + classes.string(), "dataset.samples=7"});
    EXPECT_EQ(found.ended.status, 0) << found.ended.output;
    EXPECT_EQ(found.one<protocol::Hello>().trainSamples + found.one<protocol::Hello>().validationSamples, 100)
        << "a folder has as many images as it has";
}

void writeIdx(const fs::path& path, std::initializer_list<std::uint32_t> dimensions)
{
    std::ofstream file(path, std::ios::binary);
    std::size_t bytes = 1;
    file.write("\0\0\x08", 3).put(static_cast<char>(dimensions.size()));
    for (const std::uint32_t size : dimensions) {
        for (const int shift : {24, 16, 8, 0})
            file.put(static_cast<char>(size >> shift));
        bytes *= size;
    }
    for (std::size_t i = 0; i < bytes; ++i)
        file.put(static_cast<char>(i % 10));
}

TEST(Knobs, DatasetKindMnistHasOneChannelAndItsOwnSplit)
{
    const TestFolder folder;
    writeIdx(folder.path() / "train-images-idx3-ubyte", {48, 28, 28});
    writeIdx(folder.path() / "train-labels-idx1-ubyte", {48});
    writeIdx(folder.path() / "t10k-images-idx3-ubyte", {16, 28, 28});
    writeIdx(folder.path() / "t10k-labels-idx1-ubyte", {16});
    const auto run = train(folder.path(), {"dataset.kind=mnist", "dataset.path=" + folder.path().string()});
    EXPECT_EQ(run.ended.status, 0) << run.ended.output;
    EXPECT_EQ(run.one<protocol::Hello>().trainSamples, 48);
    EXPECT_EQ(run.one<protocol::Hello>().validationSamples, 16);
    EXPECT_EQ(TraceView(run.trace).phases(profiler::phase::kCopy).at(0).args.bytes, 16 * (1 * 28 * 28 * 4 + 8))
        << "16 grey images of 28 px with their labels";
}

TEST(Knobs, DeviceCudaIsRefusedWithoutAGpuAndCpuIsNot)
{
    const TestFolder folder;
    EXPECT_EQ(train(folder.path(), {"run.steps=1"}).one<protocol::Hello>().device, "cpu");
    const auto refused = train(folder.path(), {"device=cuda"});
    if (refused.one<protocol::Hello>().pid != 0)
        GTEST_SKIP() << "there is a GPU here";
    EXPECT_EQ(refused.ended.status, static_cast<int>(protocol::Exit::BadInput));
    EXPECT_THAT(refused.one<protocol::Notice>().what, HasSubstr("device = cuda"));
    EXPECT_FALSE(refused.one<protocol::Notice>().hint.empty()) << "it says why there is none";
}

TEST(Knobs, PinnedMemoryIsRefusedOnTheProcessor)
{
    const TestFolder folder;
    const auto refused = train(folder.path(), {"loader.pin_memory=true"});
    EXPECT_EQ(refused.ended.status, static_cast<int>(protocol::Exit::BadInput));
    EXPECT_THAT(refused.one<protocol::Notice>().what, HasSubstr("loader.pin_memory = true"));
}

TEST(Knobs, ThreadsAreMadeForOperators)
{
    const auto threadsOf = [](const char* setting) {
        const TestFolder folder;
        // A large batch: small operators are not split up.
        auto arguments =
            smallTraining(folder.path(), {setting, "batch.size=64", "dataset.image_size=64", "model.width=16"});
        arguments.emplace_back("--turns");
        TrainerRun run(arguments);
        run.send(protocol::Turn{"steps", 0, 1});
        EXPECT_TRUE(run.await<protocol::TurnResult>());
        const auto count = std::distance(fs::directory_iterator("/proc/" + std::to_string(run.pid()) + "/task"), {});
        run.send(protocol::Stop{});
        run.end();
        return count;
    };
    EXPECT_GE(threadsOf("run.threads=3") - threadsOf("run.threads=1"), 2);
}

TEST(Knobs, EveryOneHasATest)
{
    std::set<std::string> tested = {"dataset.kind", "dataset.path", "device", "loader.pin_memory", "run.threads"};
    tested.insert("eval.package_sha256"); // in compiled_model_test.cpp
    // In knobs_files_test.cpp and own_models_test.cpp: they name files and what is in them.
    tested.insert({"dataset.target_column", "dataset.target", "model.path", "model.trusted_sha256", "model.loss",
                   "model.input_shapes"});
    // In knobs_runs_test.cpp: they name files, start processes or end runs.
    tested.insert({"run.on_nan", "run.log_file", "run.checkpoint_every", "run.checkpoint_path", "run.resume",
                   "batch.find_max", "batch.memory_limit", "precision.tf32", "cudnn.benchmark",
                   "transfer.non_blocking"});
    for (const Observable& knob : allKnobs())
        tested.insert(knob.key);
    for (const config::Knob& knob : config::knobs())
        EXPECT_EQ(tested.count(std::string(knob.key)), 1u) << knob.key;
    EXPECT_EQ(tested.size(), config::knobs().size());
}

} // namespace
