#include "tests/trainer/trace_view.h"
#include "tests/trainer/trainer_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace trainer_test;
using testing::ElementsAreArray;
using testing::Pointwise;

namespace {

MATCHER_P(IsNear, tolerance, "")
{
    return std::abs(std::get<0>(arg) - std::get<1>(arg)) <= tolerance;
}

std::vector<protocol::EpochProgress> epochs(const Finished& run)
{
    std::vector<protocol::EpochProgress> found;
    for (const protocol::Progress& record : run.records)
        if (const auto* epoch = std::get_if<protocol::EpochProgress>(&record))
            found.push_back(*epoch);
    return found;
}

struct Recipe {
    const char* name;
    std::vector<std::string> settings;
    friend void PrintTo(const Recipe& recipe, std::ostream* out) { *out << recipe.name; }
};

class Learning : public testing::TestWithParam<Recipe> {};

TEST_P(Learning, LossFallsAndAccuracyRises)
{
    const TestFolder folder;
    auto settings = GetParam().settings;
    for (const char* setting : {"dataset.samples=200", "model.width=8", "run.epochs=8"})
        settings.emplace_back(setting);
    const auto run = train(folder.path(), settings);
    ASSERT_EQ(run.ended.status, 0) << run.ended.output;
    const auto seen = epochs(run);
    ASSERT_EQ(seen.size(), 8u);
    EXPECT_LT(seen.back().trainLoss, seen.front().trainLoss * 0.8);
    EXPECT_GT(seen.back().trainAccuracy, seen.front().trainAccuracy);
    EXPECT_GT(seen.back().validationAccuracy, 0.5) << "four classes: chance is a quarter";
    EXPECT_EQ(run.one<protocol::Done>().validationAccuracy, seen.back().validationAccuracy);
}

const Recipe kRecipes[] = {
    {"Naive", {}},
    {"AdamW", {"optimizer.kind=adamw", "optimizer.learning_rate=0.005"}},
    {"Tuned",
     {"memory_format=channels_last", "precision.amp=bf16", "zero_grad.set_to_none=true", "sync.every_n_steps=0",
      "loader.workers=2"}},
};
std::string nameOf(const testing::TestParamInfo<Recipe>& test)
{
    return test.param.name;
}
INSTANTIATE_TEST_SUITE_P(Trainings, Learning, testing::ValuesIn(kRecipes), nameOf);

TEST(Losses, AreTheSameWhateverTheNumberOfWorkers)
{
    const TestFolder folder;
    const auto none = losses(folder.path(), {"loader.workers=0"}, 12);
    ASSERT_EQ(none.size(), 12u);
    EXPECT_THAT(losses(folder.path(), {"loader.workers=1"}, 12), ElementsAreArray(none));
    EXPECT_THAT(losses(folder.path(), {"loader.workers=2", "loader.prefetch_factor=5"}, 12), ElementsAreArray(none));
    EXPECT_THAT(losses(folder.path(), {"loader.workers=2", "loader.persistent_workers=true"}, 12),
                ElementsAreArray(none));
}

TEST(Losses, AreTheSameHoweverTheyAreReadAndRecorded)
{
    const TestFolder folder;
    const auto plain = losses(folder.path(), {});
    EXPECT_THAT(losses(folder.path(), {"sync.every_n_steps=0", "eval.no_grad=false", "debug.anomaly=true"}),
                ElementsAreArray(plain));
    EXPECT_THAT(losses(folder.path(), {"zero_grad.set_to_none=true"}), ElementsAreArray(plain));
}

TEST(Losses, StayCloseUnderOtherArithmetic)
{
    const TestFolder folder;
    const auto plain = losses(folder.path(), {});
    EXPECT_THAT(losses(folder.path(), {"memory_format=channels_last"}), Pointwise(IsNear(0.01), plain));
    EXPECT_THAT(losses(folder.path(), {"precision.amp=bf16"}), Pointwise(IsNear(0.1), plain));
}

TEST(Losses, OfTheSecondEpochDifferByAugmentation)
{
    const TestFolder folder;
    const auto still = losses(
        folder.path(),
        {"augment.enabled=false", "optimizer.learning_rate=0", "optimizer.weight_decay=0", "loader.shuffle=false"}, 10);
    ASSERT_EQ(still.size(), 10u);
    EXPECT_THAT(std::vector(still.begin() + 5, still.end()),
                ElementsAreArray(std::vector(still.begin(), still.begin() + 5)))
        << "80 samples are five batches";
    const auto moving =
        losses(folder.path(), {"optimizer.learning_rate=0", "optimizer.weight_decay=0", "loader.shuffle=false"}, 10);
    EXPECT_NE(moving[0], moving[5]);
}

TEST(ResNet, TrainsOnSmallAndLargeImages)
{
    const TestFolder folder;
    for (const char* size : {"dataset.image_size=16", "dataset.image_size=64"}) {
        const auto run = train(
            folder.path(), {"workload=resnet18", "run.steps=1", "batch.size=8", "dataset.validation_share=0", size});
        EXPECT_EQ(run.ended.status, 0) << run.ended.output;
        EXPECT_EQ(run.one<protocol::Done>().steps, 1);
    }
}

} // namespace
