#include "trainer/config/training_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace config;
using testing::AnyOf;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

TrainingConfig with(std::initializer_list<const char*> assignments)
{
    TrainingConfig config;
    for (const char* assignment : assignments)
        if (auto done = config.setAssignment(assignment); !done)
            ADD_FAILURE() << done.error().message();
    return config;
}

TEST(TrainingConfig, IsTheNaiveTrainingByDefault)
{
    const TrainingConfig config;
    EXPECT_EQ(config[key::workers], 0);
    EXPECT_FALSE(config[key::pinMemory]);
    EXPECT_EQ(config[key::syncEvery], 1);
    EXPECT_FALSE(config[key::setToNone]);
    EXPECT_EQ(config[key::memoryFormat], "contiguous");
    EXPECT_EQ(config[key::amp], "off");
    EXPECT_FALSE(config[key::persistentWorkers]);
    EXPECT_THAT(config.problems(false), IsEmpty());
    EXPECT_THAT(config.problems(true), IsEmpty());
}

TEST(TrainingConfig, ReadyTrainingLoadsHasNaiveSettingsAndNeedsNoGpu)
{
    const auto config = TrainingConfig::load(STEPSCOPE_EXAMPLES "/first_run.json");
    ASSERT_TRUE(config) << config.error().message();
    EXPECT_THAT(config->problems(false), IsEmpty());
    for (const char* key : {"loader.workers", "loader.pin_memory", "sync.every_n_steps", "zero_grad.set_to_none",
                            "memory_format", "precision.amp", "loader.prefetch_factor"})
        EXPECT_EQ(config->value(key), findKnob(key)->fallback) << key;
}

TEST(TrainingConfig, TypedKeysReadWhatWasSet)
{
    const auto config =
        with({"loader.workers=2", "optimizer.learning_rate=1", "precision.amp=bf16", "eval.no_grad=false"});
    EXPECT_EQ(config[key::workers], 2);
    EXPECT_EQ(config[key::learningRate], 1.0);
    EXPECT_EQ(config[key::amp], "bf16");
    EXPECT_FALSE(config[key::evalNoGrad]);
}

TEST(TrainingConfig, FormerNameOfAChoiceIsStillRead)
{
    EXPECT_EQ(with({"optimizer.implementation=plain"})[key::implementation], "for-loop");
    EXPECT_TRUE(with({"optimizer.implementation=plain"}) == TrainingConfig());
    EXPECT_THAT(allowedText(*findKnob("optimizer.implementation")), testing::Not(HasSubstr("plain")));
}

TEST(TrainingConfig, UnknownKeyNamesTheNearest)
{
    TrainingConfig config;
    const auto done = config.setAssignment("loader.wrokers=2");
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().id, "config.unknown_key");
    EXPECT_EQ(done.error().key, "loader.wrokers");
    EXPECT_EQ(done.error().value, "2");
    EXPECT_THAT(done.error().message(), HasSubstr("loader.workers"));
}

TEST(TrainingConfig, AssignmentNeedsAnEqualsSign)
{
    TrainingConfig config;
    const auto done = config.setAssignment("loader.workers");
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().id, "config.no_assignment");
    EXPECT_FALSE(config.setAssignment(""));
    EXPECT_FALSE(config.setAssignment("=2"));
}

TEST(TrainingConfig, AssignmentSplitsAtTheFirstEqualsSign)
{
    EXPECT_EQ(with({"dataset.path=/data/a=b"})[key::datasetPath], "/data/a=b");
}

TEST(Problems, NameKnobsThatNeedAGpuIfThereIsNone)
{
    const auto problems = with({"loader.pin_memory=true", "device=cuda"}).problems(false);
    ASSERT_EQ(problems.size(), 2u);
    EXPECT_EQ(problems[0].key, "device");
    EXPECT_EQ(problems[1].key, "loader.pin_memory");
    for (const ConfigError& problem : problems)
        EXPECT_THAT(problem.id, AnyOf("config.no_gpu", "config.needs_gpu"));
    EXPECT_THAT(with({"loader.pin_memory=true", "device=cuda"}).problems(true), IsEmpty());
}

TEST(Problems, EveryGpuKnobIsRefusedWithoutAGpu)
{
    for (const Knob& knob : knobs()) {
        if (!knob.needsGpu)
            continue;
        TrainingConfig config;
        ASSERT_TRUE(config.set(knob.key, "true"));
        const auto problems = config.problems(false);
        ASSERT_EQ(problems.size(), 1u) << knob.key;
        EXPECT_EQ(problems[0].key, knob.key);
    }
}

TEST(Problems, PinnedMemoryIsPointlessOnTheProcessor)
{
    const auto problems = with({"loader.pin_memory=true", "device=cpu"}).problems(true);
    ASSERT_EQ(problems.size(), 1u);
    EXPECT_EQ(problems[0].key, "loader.pin_memory");
}

TEST(Problems, AGraphDoesNotFollowParametersThatACheckMoves)
{
    for (const char* check : {"debug.gradcheck=true", "debug.gradgradcheck=true"}) {
        const auto problems = with({"compile=true", check}).problems(true);
        ASSERT_EQ(problems.size(), 1u) << check;
        EXPECT_EQ(problems[0].key, "compile");
    }
}

TEST(Problems, AGraphHoldsNeitherRecomputationNorLooksAtGradients)
{
    for (const char* other : {"checkpointing=all", "checkpointing=cheap", "debug.anomaly=true"}) {
        const auto problems = with({"compile=true", other}).problems(true);
        ASSERT_EQ(problems.size(), 1u) << other;
        EXPECT_EQ(problems[0].key, "compile");
        EXPECT_THAT(with({other}).problems(true), IsEmpty());
    }
    EXPECT_THAT(with({"compile=true"}).problems(true), IsEmpty());
}

TEST(Problems, AFolderOfImagesIsRequiredWhileOtherDataIsGenerated)
{
    const char* folder = "dataset.kind=image_folder";
    ASSERT_EQ(with({folder}).problems(false).size(), 1u);
    EXPECT_EQ(with({folder}).problems(false)[0].id, "config.dataset_folder");
    EXPECT_EQ(with({folder}).problems(false)[0].key, "dataset.path");
    EXPECT_THAT(with({folder, "dataset.path=/data"}).problems(false), IsEmpty());
    EXPECT_THAT(with({"dataset.kind=mnist"}).problems(false), IsEmpty());
}

TEST(Problems, EachGeneratedClassNeedsAnImage)
{
    EXPECT_EQ(with({"dataset.samples=9", "dataset.classes=10"}).problems(false).size(), 1u);
    EXPECT_THAT(with({"dataset.samples=10", "dataset.classes=10"}).problems(false), IsEmpty());
}

TEST(Difference, ListsWhatDiffersWithBothTexts)
{
    const auto found = difference(TrainingConfig(), with({"loader.workers=2", "precision.amp=bf16"}));
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[0].key, "loader.workers");
    EXPECT_EQ(found[0].a, "0");
    EXPECT_EQ(found[0].b, "2");
    EXPECT_EQ(found[1].key, "precision.amp");
    EXPECT_THAT(difference(TrainingConfig(), TrainingConfig()), IsEmpty());
}

} // namespace
