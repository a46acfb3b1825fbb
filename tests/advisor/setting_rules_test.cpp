#include "tests/advisor/rules_fixtures.h"
#include "tests/support/message_matchers.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace advisor_test {
namespace {

using advisor::Objective;
using advisor::SavingKind;
using advisor::State;
using test_support::HasId;
using test_support::HasNumber;
using test_support::HasText;
using testing::DoubleNear;
using testing::HasSubstr;

const std::string kRun = "main\nrepeat 10 every 1000\nstep 0 0 1000\nend\n";

TEST(OptimizerLrScaling, FollowsTheOptimizer)
{
    const auto to = [](const char* optimizer) {
        return Judged("optimizer_lr_scaling", kRun, {"batch.size=128", std::string("optimizer.kind=") + optimizer})
            .advice()
            .toggle->to;
    };
    EXPECT_EQ(to("sgd"), "linear");
    EXPECT_EQ(to("adamw"), "sqrt");
}

TEST(OptimizerLrScaling, CountsAccumulatedBatchesAndCopies)
{
    EXPECT_EQ(Judged("optimizer_lr_scaling", kRun, {"gradient.accumulation=2"}).advice().state, State::Fires);
    EXPECT_EQ(Judged("optimizer_lr_scaling", kRun, {"parallel.kind=ddp"}).advice().state, State::Fires);
    EXPECT_EQ(Judged("optimizer_lr_scaling", kRun, {"parallel.kind=dp"}).advice().state, State::Silent);
}

/// A recorded program: facts as written by the hooks.
advisor::Advice ofProgram(std::string_view stem, std::string_view optimizer, std::string_view settings,
                          std::string_view more = "meta loader.batch_size 64\n")
{
    return judge(stem, fmt::format("meta optimizer.count 1\nmeta optimizer.class torch.optim.{}\n"
                                   "meta optimizer.settings {}\n{}{}",
                                   optimizer, settings, more, kRun));
}

TEST(OptimizerKind, UsesWhatTheHooksRecord)
{
    const advisor::Advice coupled = ofProgram("optimizer_kind", "Adam", "lr=0.001, weight_decay=0.1");
    ASSERT_EQ(coupled.state, State::Fires) << coupled.reason;
    EXPECT_THAT(coupled.reason, HasId("optimizer.kind.adam_decay"));
    EXPECT_THAT(ofProgram("optimizer_kind", "Adam", "lr=0.001").reason, HasId("optimizer.kind.suits"))
        << "omitted settings have their defaults";
    EXPECT_THAT(ofProgram("optimizer_kind", "SGD", "lr=0.1, weight_decay=0.1").reason, HasId("optimizer.kind.suits"));
    const std::string large = "meta loader.batch_size 4096\nmeta world_size ";
    EXPECT_THAT(ofProgram("optimizer_kind", "SGD", "lr=0.1", large + "2\n").reason, HasId("optimizer.kind.suits"));
    EXPECT_THAT(ofProgram("optimizer_kind", "SGD", "lr=0.1", large + "3\n").reason,
                HasId("optimizer.kind.large_batch"));
    EXPECT_THAT(ofProgram("optimizer_kind", "SGD", "lr=0.1", "").reason, HasId("optimizer.kind.settings_not_recorded"));
    EXPECT_THAT(judge("optimizer_kind", kRun).reason, HasId("optimizer.kind.not_recorded"));
}

TEST(OptimizerWeightDecay, UsesWhatTheHooksRecord)
{
    const advisor::Advice none = ofProgram("optimizer_weight_decay", "SGD", "lr=0.1, momentum=0.9");
    EXPECT_EQ(none.state, State::CannotTell) << "it may be right to have none";
    EXPECT_THAT(none.reason, HasId("optimizer.weight_decay.none"));
    const advisor::Advice byDefault = ofProgram("optimizer_weight_decay", "AdamW", "lr=0.001");
    EXPECT_EQ(byDefault.state, State::Silent);
    EXPECT_THAT(byDefault.reason, HasNumber("decay", 0.01));
    EXPECT_EQ(ofProgram("optimizer_weight_decay", "SGD", "lr=0.1, weight_decay=0.0005").state, State::Silent);
    EXPECT_EQ(ofProgram("optimizer_weight_decay", "LBFGS", "lr=1").state, State::CannotTell);
    EXPECT_EQ(ofProgram("optimizer_weight_decay", "SGD", "lr=0.1", "meta optimizer.note broken\n").state,
              State::CannotTell)
        << "the hooks could not read the settings";
}

TEST(ScheduleKind, AScaledRateNeedsAWarmUp)
{
    const Judged judged("schedule_kind", kRun, {"batch.size=128", "optimizer.lr_scaling=linear"});
    EXPECT_EQ(judged.advice().state, State::Fires);
    EXPECT_THAT(judged.advice().reason, HasId("schedule.kind.no_warmup"));
    EXPECT_NE(
        Judged("schedule_kind", kRun, {"batch.size=128", "optimizer.lr_scaling=linear", "schedule.warmup_steps=100"})
            .advice()
            .state,
        State::Fires);
}

TEST(GradientClip, ANanLossIsASpike)
{
    const std::string text = kRun + "counter loss\nsample 0 1\nsample 100 nan\n";
    const Judged judged("gradient_clip_norm", text);
    EXPECT_EQ(judged.advice().state, State::Fires);
    EXPECT_EQ(judged.advice().objective, Objective::LossAtEqualTime);
}

TEST(HostAsyncWork, PredictsTheTimeOfTheLog)
{
    const std::string text =
        "meta host.cores 8\nmeta host.threads 1\nmain\nrepeat 10 every 1000\nstep 0 0 1000\nphase log 900 60\nend\n";
    const Judged judged("host_async_work", text);
    ASSERT_TRUE(judged.advice().saving);
    EXPECT_NEAR(judged.advice().saving->low, 60, 0.1);
    EXPECT_NEAR(judged.advice().saving->high, 60, 0.1);
    // On two cores that are fully used by training, the log may take as much of the step as before.
    const Judged crowded("host_async_work",
                         "meta host.cores 2\nmeta host.threads 2\n" + text.substr(text.find("main")));
    EXPECT_NEAR(crowded.advice().saving->low, 0, 0.1);
    EXPECT_NEAR(crowded.advice().saving->high, 60, 0.1);
}

TEST(HostAsyncWork, FilesWrittenBetweenStepsCountForThePreviousStep)
{
    const Judged judged("host_async_work",
                        "meta host.cores 8\nmeta host.threads 1\nmain\nrepeat 10 every 1000\nstep 0 0 "
                        "900\nphase log 910 60\nend\n");
    ASSERT_EQ(judged.advice().state, State::Fires) << judged.advice().reason;
    ASSERT_TRUE(judged.advice().saving);
    EXPECT_NEAR(judged.advice().saving->mid, 60, 8);
}

TEST(HostAsyncWork, TheCopyTimeOfACheckpointIsUnknown)
{
    const Judged judged("host_async_work",
                        "meta host.cores 8\nmeta host.threads 1\nmain\nrepeat 10 every 1000\nstep 0 0 900\n"
                        "phase metrics 800 20\nphase checkpoint 910 80\nend\n");
    ASSERT_TRUE(judged.advice().saving) << judged.advice().whyNoPrediction;
    EXPECT_DOUBLE_EQ(judged.advice().saving->low, 0) << "the weights are copied in the step";
    EXPECT_EQ(judged.advice().saving->kind, SavingKind::UpperBound);
    EXPECT_NEAR(judged.advice().saving->high, 2 * 80 + 20, 20)
        << "the metrics, and the cache lines that writing displaces";
    EXPECT_NEAR(judged.advice().saving->ofUs, 1000, 20) << "the time between the steps is timed, too";
}

TEST(HostAsyncWork, ACheckpointSavesNoMoreThanTheStep)
{
    const Judged judged("host_async_work",
                        "meta host.cores 8\nmeta host.threads 1\nmain\nrepeat 10 every 1000\nstep 0 0 400\n"
                        "phase checkpoint 400 600\nend\n");
    ASSERT_TRUE(judged.advice().saving) << judged.advice().whyNoPrediction;
    EXPECT_NEAR(judged.advice().saving->high, judged.advice().saving->ofUs, 0.1);
}

TEST(TensorsShareMemory, ABatchFromAWorkerIsFetchedWithOrWithoutTheCopy)
{
    const auto advice = [](const char* workers) {
        return Judged("tensors_share_memory",
                      "main\nrepeat 10 every 1000\nstep 0 0 1000\nphase copy 0 60\nop aten::clone 1 50\nend\n",
                      {std::string("loader.workers=") + workers})
            .advice();
    };
    const auto sameThread = advice("0"), beside = advice("1");
    ASSERT_TRUE(sameThread.saving) << sameThread.whyNoPrediction;
    EXPECT_EQ(sameThread.saving->kind, SavingKind::UpperBound);
    EXPECT_NEAR(sameThread.saving->high, 2 * 60 + 940, 0.1)
        << "the copy, the same time to read what it displaced, and the time outside the phases";
    ASSERT_EQ(beside.state, State::Fires) << beside.reason;
    EXPECT_FALSE(beside.saving);
    EXPECT_THAT(beside.whyNoPrediction, HasId("tensors.share_memory.fetched"));
}

/// Steps of 1,000 µs: the optimizer takes 200, a long operator 600, and twenty calls of another operator `us` each.
std::string stepsWithShortOperators(int us, std::string_view threads, std::string_view longOperator = "aten::gelu")
{
    std::string text = fmt::format("meta host.threads {}\nmain\nrepeat 10 every 1000\nstep 0 0 1000\n"
                                   "phase forward 0 800\nop {} 0 600\n",
                                   threads, longOperator);
    for (int i = 0; i < 20; ++i)
        text += fmt::format("op aten::relu {} {}\n", 600 + 10 * i, us);
    return text + "phase optimizer 800 200\nend\n";
}

TEST(BatchSize, DoublesTheBatchAndHalvesAtMostWhatIsNotSureToGrowWithIt)
{
    for (const int us : {4, 10}) {
        const Judged judged("batch_size", stepsWithShortOperators(us, "1"), {"batch.size=16"});
        ASSERT_TRUE(judged.advice().saving);
        EXPECT_EQ(judged.advice().toggle->to, "32");
        EXPECT_EQ(judged.advice().saving->kind, SavingKind::UpperBound);
        // The whole long operator except the overhead of a call.
        EXPECT_NEAR(judged.advice().saving->high, (1000 - (600 - 20)) / 2, 0.1) << us;
    }
}

// Measured: of a step of 354 µs, doubling a batch of 2 saved 48 %, although matmuls took more than 9 % of it.
TEST(BatchSize, AMatmulMayTakeAsLongForALargerBatch)
{
    for (const char* op : {"aten::addmm", "aten::mkldnn_convolution"}) {
        const Judged judged("batch_size", stepsWithShortOperators(4, "1", op));
        ASSERT_TRUE(judged.advice().saving);
        EXPECT_NEAR(judged.advice().saving->high, 500, 0.1) << op << " may only read its weights";
    }
}

TEST(BatchSize, TheWaitForDataMayAlsoHalve)
{
    const Judged judged("batch_size", "meta host.threads 2\nmain\nrepeat 10 every 1000\nstep 0 0 1000\n"
                                      "phase \"data wait\" 0 100\nphase forward 100 700\nop aten::relu 100 600\n"
                                      "phase optimizer 800 200\nend\n");
    ASSERT_TRUE(judged.advice().saving);
    EXPECT_NEAR(judged.advice().saving->high, 500, 0.1) << "half of the whole step";
}

TEST(BatchSize, SeveralThreadsMayShareALargerBatchBetter)
{
    const Judged judged("batch_size", stepsWithShortOperators(4, "2"));
    ASSERT_TRUE(judged.advice().saving);
    EXPECT_NEAR(judged.advice().saving->high, 500, 0.1) << "it takes no less time than the smaller one";
}

TEST(BatchSize, OnlyCallsAsShortAsTheirOverheadCountAsOverhead)
{
    EXPECT_THAT(Judged("batch_size", stepsWithShortOperators(4, "1")).advice().reason,
                HasNumber("overhead", DoubleNear(0.185, 1e-3)))
        << "20 calls of 4 µs, and 5 µs before each and the product";
    EXPECT_THAT(Judged("batch_size", stepsWithShortOperators(10, "1")).advice().reason,
                HasNumber("overhead", DoubleNear(0, 1e-3)));
}

TEST(BatchSize, PredictsNothingWithoutOperators)
{
    const Judged judged("batch_size", "main\nrepeat 10 every 1000\nstep 0 0 1000\nphase optimizer 0 200\nend\n");
    EXPECT_EQ(judged.advice().state, State::Fires);
    EXPECT_FALSE(judged.advice().saving);
    EXPECT_THAT(judged.advice().whyNoPrediction, HasId("batch.size.no_ops"));
}

TEST(MemoryRules, ADevicesOwnMemoryIsTheLimit)
{
    const std::string text = R"(
        device 0 gpu
        main
          repeat 10 every 1000
            step 0 0 1000
          end
        stream 0 7
          kernel a 0 100
        counter "GPU 0 memory reserved"
          sample 0 95
    )";
    // The device does not report how much memory it has.
    EXPECT_EQ(Judged("memory_pressure", text, {}, true).advice().state, State::CannotTell);
}

TEST(GradientAccumulation, AnIndivisibleBatchIsAdvisedWithoutAToggle)
{
    const auto advice = [](std::vector<std::string> settings) {
        settings.emplace_back("batch.memory_limit=100");
        return Judged("gradient_accumulation", kRun + "counter memory\nsample 0 1000\nsample 5000 99614720\n", settings)
            .advice();
    };
    ASSERT_TRUE(advice({"batch.size=64"}).toggle);
    for (const auto& [setting, why] : {std::pair("batch.size=37", "gradient.accumulation.indivisible"),
                                       std::pair("compile=true", "gradient.accumulation.compiled")}) {
        const auto found = advice({setting});
        EXPECT_EQ(found.state, State::Fires) << setting;
        EXPECT_FALSE(found.toggle) << setting;
        EXPECT_THAT(found.whyNoToggle, HasId(why));
    }
}

TEST(Checkpointing, WithoutABackwardPassNoActivationsAreKept)
{
    const auto full = [](std::string_view ops) {
        const std::string text = "device 0 gpu memory=100\nmain\n" + std::string(ops) +
                                 "\nstream 0 7\nkernel a 0 100\ncounter \"GPU 0 memory reserved\"\nsample 0 95";
        return std::pair(Judged("checkpointing", text, {}, true).advice().state,
                         Judged("gradient_accumulation", text, {}, true).advice().state);
    };
    EXPECT_EQ(full("op aten::mm 0 50"), std::pair(State::Silent, State::Silent));
    EXPECT_EQ(full("op aten::mm 0 20\nop MmBackward0 30 20"), std::pair(State::Fires, State::Fires));
    EXPECT_EQ(full("op aten::mm 0 20\ncall cudaGraphLaunch 30 20"), std::pair(State::Fires, State::Fires));
    EXPECT_EQ(full("op aten::mm 0 20\nstream 0 8\nkernel triton_poi_fused_threshold_backward_3 30 20"),
              std::pair(State::Fires, State::Fires));
    EXPECT_EQ(full(""), std::pair(State::Fires, State::Fires)); // unknown without operators
}

/// The verdict of a rule on the fixture that makes it fire, in a run with these settings.
advisor::Advice withSettings(std::string_view stem, std::vector<std::string> assignments)
{
    for (const Fixture& fixture : fixtures())
        if (fixture.stem == stem && fixture.state == State::Fires) {
            assignments.insert(assignments.begin(), fixture.assignments.begin(), fixture.assignments.end());
            return Judged(stem, fixture.text, assignments).advice();
        }
    return {};
}

TEST(Toggles, AreAcceptedTogetherWithTheOtherSettings)
{
    const auto to = [](std::string_view stem, std::vector<std::string> assignments) {
        const advisor::Advice advice = withSettings(stem, std::move(assignments));
        return advice.toggle ? advice.toggle->to : advice.whyNoToggle.text;
    };
    EXPECT_EQ(to("optimizer_fused", {"optimizer.kind=adamw"}), "fused");
    EXPECT_EQ(to("optimizer_fused", {"optimizer.kind=lars"}), "foreach");
    EXPECT_EQ(to("checkpointing", {}), "cheap");
    EXPECT_EQ(to("checkpointing", {"parallel.kind=dp"}), "all");
}

TEST(Toggles, ValuesThatTheTrainerWouldRejectAreNotOffered)
{
    const advisor::Advice graph = withSettings("compile", {"device=cuda", "gradient.accumulation=2"});
    EXPECT_EQ(graph.state, State::Fires);
    EXPECT_FALSE(graph.toggle);
    EXPECT_THAT(graph.whyNoToggle, HasId("toggle.refused"));
    EXPECT_THAT(graph.whyNoToggle, HasText("key", "compile"));
    EXPECT_TRUE(withSettings("compile", {"device=cuda"}).toggle);

    const std::vector<std::string> large = {"optimizer.kind=sgd", "batch.size=8192", "gradient.accumulation=2"};
    EXPECT_EQ(Judged("optimizer_kind", kRun, large).advice().toggle->to, "lars");
    std::vector<std::string> fused = large;
    fused.emplace_back("optimizer.implementation=fused");
    const advisor::Advice layers = Judged("optimizer_kind", kRun, fused).advice();
    EXPECT_EQ(layers.state, State::Fires);
    EXPECT_FALSE(layers.toggle);
    EXPECT_THAT(layers.whyNoToggle, HasText("why", HasSubstr("optimizer.implementation")));
}

} // namespace
} // namespace advisor_test
