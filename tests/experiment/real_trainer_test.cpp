// Experiments with the real trainer: what they find, and that they find nothing if there is nothing. Each result is
// printed, so that a run of these tests is a measurement as well.
#include "advisor/experiment/experiment.h"

#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <gmock/gmock.h>

namespace experiment_test {
namespace {

using namespace advisor;

config::TrainingConfig smallTraining(std::initializer_list<const char*> assignments)
{
    config::TrainingConfig config;
    for (const char* assignment : assignments)
        EXPECT_TRUE(config.setAssignment(assignment)) << assignment;
    return config;
}

ExperimentPlan planFor(config::TrainingConfig baseline)
{
    ExperimentPlan plan;
    plan.trainer = std::getenv("STEPSCOPE_TRAINER") ? std::filesystem::path{} : std::filesystem::path(REAL_TRAINER);
    plan.baseline = std::move(baseline);
    return plan;
}

/// The remaining noise of a pair: standard deviation of the logarithm of its ratio.
double spread(const std::vector<Pair>& pairs)
{
    double mean = 0, squares = 0;
    for (const Pair& pair : pairs)
        mean += pair.logRatio / static_cast<double>(pairs.size());
    for (const Pair& pair : pairs)
        squares += (pair.logRatio - mean) * (pair.logRatio - mean);
    return std::sqrt(squares / static_cast<double>(pairs.size() - 1));
}

void print(std::string_view name, const ExperimentResult& result)
{
    fmt::print("{}: {} · {} · pairs spread by {:.2f} % · {:.0f} s\n", name, verdictName(result.verdict),
               result.whyText(), 100 * spread(result.pairs), result.secondsSpent);
    for (const Pair& pair : result.pairs)
        fmt::print("    {:8.1f} {:8.1f} samples/s  {:+.2f} %\n", pair.a, pair.b, 100 * std::expm1(pair.logRatio));
    std::fflush(stdout);
}

TEST(RealTrainer, WorkersOnSmallImages)
{
    // Large files for a small network, which waits for decoding.
    ExperimentPlan plan =
        planFor(smallTraining({"workload=convnet", "dataset.kind=generated_images", "dataset.samples=400",
                               "dataset.source_size=448", "dataset.image_size=32", "run.threads=1", "batch.size=32"}));
    plan.changes = {{"loader.workers", "0", "2"}};
    const auto result = runExperiment(plan, {}, {});
    ASSERT_TRUE(result) << result.error().message();
    print("loader.workers=2", *result);
    EXPECT_EQ(result->loss.kind, LossKind::NotWorse);
    // The same batches in the same order, whatever the number of workers.
    EXPECT_DOUBLE_EQ(result->loss.a, result->loss.b);
    EXPECT_GT(result->peakBytesA, 1'000'000) << "of tensors";
    EXPECT_EQ(result->verdict, Verdict::Pays);
}

TEST(RealTrainer, IdenticalArmsShowNoDifference)
{
    constexpr int kExperiments = 20;
    ExperimentPlan plan = planFor(
        smallTraining({"workload=convnet", "model.width=8", "dataset.kind=generated_images", "dataset.samples=400",
                       "dataset.source_size=64", "dataset.image_size=32", "run.threads=1", "batch.size=16"}));
    plan.turn = std::chrono::milliseconds(300);
    int claimed = 0;
    for (int i = 0; i < kExperiments; ++i) {
        const auto result = runExperiment(plan, {}, {});
        ASSERT_TRUE(result) << result.error().message();
        print(fmt::format("A/A {}", i + 1), *result);
        EXPECT_DOUBLE_EQ(result->loss.a, result->loss.b);
        claimed += result->verdict == Verdict::Pays || result->verdict == Verdict::Costs ? 1 : 0;
    }
    EXPECT_LE(claimed, 1);
}

/// A small convnet that learns to distinguish two classes of generated images.
ExperimentPlan trainStep(const char* rate)
{
    ExperimentPlan plan = planFor(smallTraining(
        {"workload=convnet", "model.width=8", "dataset.kind=generated_images", "dataset.samples=400",
         "dataset.source_size=32", "dataset.image_size=32", "run.threads=1", "batch.size=16", "optimizer.kind=sgd"}));
    EXPECT_TRUE(plan.baseline.set("optimizer.learning_rate", rate));
    plan.objective = Objective::LossAtEqualTime;
    plan.horizon = std::chrono::seconds(4);
    return plan;
}

void printLosses(std::string_view name, const ExperimentResult& result)
{
    fmt::print("{}: {} · {} · {:.0f} s\n", name, verdictName(result.verdict), result.whyText(), result.secondsSpent);
    for (const Pair& seed : result.lossAtEqualTime->seeds)
        fmt::print("    {:.4f} {:.4f}\n", seed.a, seed.b);
    std::fflush(stdout);
}

TEST(RealTrainer, ABetterLearningRate)
{
    ExperimentPlan plan = trainStep("0.0001");
    plan.changes = {{"optimizer.learning_rate", "0.0001", "0.02"}};
    const auto result = runExperiment(plan, {}, {});
    ASSERT_TRUE(result) << result.error().message();
    printLosses("optimizer.learning_rate=0.02", *result);
    EXPECT_TRUE(result->lossAtEqualTime->validation);
    EXPECT_EQ(result->verdict, Verdict::Pays);
    EXPECT_GT(result->lossAtEqualTime->saved.low, 0);
}

TEST(RealTrainer, AMuchTooLowLearningRate)
{
    ExperimentPlan plan = trainStep("0.02");
    plan.changes = {{"optimizer.learning_rate", "0.02", "0.0001"}};
    const auto result = runExperiment(plan, {}, {});
    ASSERT_TRUE(result) << result.error().message();
    printLosses("optimizer.learning_rate=0.0001", *result);
    EXPECT_EQ(result->verdict, Verdict::Costs);
    EXPECT_EQ(result->loss.kind, LossKind::Worse);
}

TEST(RealTrainer, RecomputationOnTwoRanksByItsMemory)
{
    // Large images for a small network: the activations for the backward pass are most of the memory.
    ExperimentPlan plan =
        planFor(smallTraining({"workload=convnet", "model.width=32", "dataset.kind=generated_images",
                               "dataset.samples=400", "dataset.source_size=64", "dataset.image_size=64",
                               "run.threads=1", "batch.size=16", "parallel.kind=ddp", "parallel.local_ranks=2"}));
    plan.objective = Objective::Memory;
    plan.changes = {{"checkpointing", "none", "all"}};
    const auto result = runExperiment(plan, {}, {});
    ASSERT_TRUE(result) << result.error().message();
    print("checkpointing=all, 2 ranks", *result);
    EXPECT_EQ(result->verdict, Verdict::Pays);
    EXPECT_EQ(result->loss.kind, LossKind::NotWorse);
    EXPECT_GT(result->savedBytes.low, 1e6);
}

TEST(RealTrainer, ABetterLearningRateOnTwoRanks)
{
    ExperimentPlan plan = trainStep("0.0001");
    for (const char* assignment : {"parallel.kind=ddp", "parallel.local_ranks=2", "batch.size=8"})
        ASSERT_TRUE(plan.baseline.setAssignment(assignment));
    plan.changes = {{"optimizer.learning_rate", "0.0001", "0.02"}};
    const auto result = runExperiment(plan, {}, {});
    ASSERT_TRUE(result) << result.error().message();
    printLosses("optimizer.learning_rate=0.02, 2 ranks", *result);
    EXPECT_TRUE(result->lossAtEqualTime->validation);
    EXPECT_EQ(result->verdict, Verdict::Pays);
    EXPECT_GT(result->lossAtEqualTime->saved.low, 0);
}

TEST(RealTrainer, IdenticalArmsShowNoDifferenceInLoss)
{
    constexpr int kExperiments = 20;
    ExperimentPlan plan = trainStep("0.02");
    plan.horizon = std::chrono::seconds(1);
    // Two looks: time for five seeds, each with two starts, two seconds of training and two validations.
    plan.budget = std::chrono::seconds(28);
    int claimed = 0, looked = 0;
    for (int i = 0; i < kExperiments; ++i) {
        // Both arms start equally; they differ in how far they get in equal time.
        ASSERT_TRUE(plan.baseline.set("run.seed", std::to_string(100 * (i + 1))));
        const auto result = runExperiment(plan, {}, {});
        ASSERT_TRUE(result) << result.error().message();
        ASSERT_TRUE(result->lossAtEqualTime);
        printLosses(fmt::format("A/A {}", i + 1), *result);
        looked += result->lossAtEqualTime->seeds.size() >= 3 ? 1 : 0;
        claimed += result->verdict == Verdict::Pays || result->verdict == Verdict::Costs ? 1 : 0;
    }
    EXPECT_EQ(looked, kExperiments) << "too slow a machine for a first look, after three seeds, within the budget";
    EXPECT_LE(claimed, 1);
}

} // namespace
} // namespace experiment_test
