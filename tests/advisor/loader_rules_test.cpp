#include "tests/advisor/rules_fixtures.h"
#include "tests/support/message_matchers.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace advisor_test {
namespace {

using advisor::State;
using test_support::HasId;
using test_support::HasNumber;
using testing::Contains;

Judged workers(const std::string& text, const std::vector<std::string>& assignments = {})
{
    return Judged("loader_workers", text, assignments);
}

TEST(LoaderWorkers, FiresFromFivePercentOfTheStep)
{
    EXPECT_EQ(workers(cpuRun(1000, 49)).advice().state, State::Silent);
    EXPECT_EQ(workers(cpuRun(1000, 51)).advice().state, State::Fires);
}

TEST(LoaderWorkers, WaitsOfSixTenthsOnTwoCoresAskForOneOrTwo)
{
    const Judged judged = workers(cpuRun(1000, 600));
    ASSERT_EQ(judged.advice().state, State::Fires);
    EXPECT_EQ(judged.advice().toggle->key, "loader.workers");
    EXPECT_EQ(judged.advice().toggle->from, "0");
    // With one worker, a step takes 600 µs; with two, training and workers are three threads on two cores: 500 µs at
    // best.
    EXPECT_EQ(judged.advice().toggle->to, "2");
    EXPECT_NEAR(judged.advice().saving->high, 500, 5);
    EXPECT_GT(judged.advice().saving->low, 300);
    EXPECT_THAT(judged.advice().reason, HasNumber("share", testing::DoubleNear(0.6, 1e-3)));
    EXPECT_THAT(judged.advice().reason, HasNumber("wait", testing::DoubleNear(600, 1)));
    EXPECT_THAT(judged.advice().caveats, Contains(HasId("loader.workers.memory")));
    EXPECT_THAT(judged.advice().caveats, Contains(HasNumber("cores", 2)));
}

TEST(LoaderWorkers, ABatchThatLoadsFasterThanItTrainsNeedsOne)
{
    const Judged judged = workers(cpuRun(1000, 300));
    ASSERT_EQ(judged.advice().state, State::Fires);
    EXPECT_EQ(judged.advice().toggle->to, "1");
    EXPECT_NEAR(judged.advice().saving->high, 300, 5);
    EXPECT_LT(judged.advice().saving->low, 290) << "in later epochs the files may be in memory";
}

/// Two epochs of a hundred steps; reading takes `read` µs in the first epoch and 10 µs in the second.
std::string epochsThatRead(double read)
{
    std::string text = "meta host.cores 2\nmeta host.threads 1\nmain\n";
    double begin = 0;
    for (int epoch = 0; epoch < 2; ++epoch) {
        const double reading = epoch == 0 ? read : 10, step = 700 + reading;
        text += fmt::format("repeat 100 every {1}\nstep {0} {2} {1}\nphase \"data wait\" {2} {3}\nstage read {2} {4}\n"
                            "stage decode {5} 290\nphase forward {6} 400\nend\n",
                            100 * epoch, step, begin, 300 + reading, reading, begin + reading, begin + 300 + reading);
        begin += 100 * step + 1000;
        text += fmt::format("phase validation {} 900\n", begin - 950);
    }
    return text;
}

TEST(LoaderWorkers, ReadsOfLaterEpochsCount)
{
    // The first epoch reads from a disk, the second one from memory: with workers, most epochs save less than that.
    const Judged judged = workers(epochsThatRead(300));
    ASSERT_TRUE(judged.advice().saving) << judged.advice().whyNoPrediction;
    EXPECT_NEAR(judged.advice().saving->ofUs, 710, 10);
    EXPECT_NEAR(judged.advice().saving->mid, 310, 15);
}

TEST(LoaderWorkers, OneCoreHasNothingToShare)
{
    std::string text = cpuRun(1000, 600);
    text.replace(text.find("host.cores 2"), 12, "host.cores 1");
    EXPECT_EQ(workers(text).advice().state, State::Silent);
}

TEST(LoaderWorkers, UnknownCoresAreACaveat)
{
    std::string text = cpuRun(1000, 600);
    text.erase(text.find("meta host.cores 2"), 17);
    const Judged judged = workers(text);
    ASSERT_EQ(judged.advice().state, State::Fires);
    EXPECT_THAT(judged.advice().caveats, Contains(HasId("loader.workers.cores_unknown")));
    EXPECT_LT(judged.advice().saving->low, 10);
}

TEST(LoaderWorkers, ComputingOnAllCoresLeavesLittleToGain)
{
    std::string text = cpuRun(1000, 600);
    text.replace(text.find("host.threads 1"), 14, "host.threads 2");
    const Judged one = workers(cpuRun(1000, 600)), two = workers(text);
    ASSERT_EQ(two.advice().state, State::Fires);
    EXPECT_LT(two.advice().saving->mid, one.advice().saving->mid);
}

TEST(LoaderWorkers, ADeviceThatIsBusyDuringTheWaitLosesNothing)
{
    const std::string_view steps = R"(
        device 0 gpu
        main
          repeat 10 every 100
            step 0 0 100
            phase "data wait" 0 50
            stage decode 0 50
          end
        stream 0 7
    )";
    const auto withKernel = [&](std::string_view kernel) {
        return std::string(steps) + "repeat 10 every 100\n" + std::string(kernel) + "\nend\n";
    };
    EXPECT_EQ(workers(withKernel("kernel gemm 0 46")).advice().state, State::Silent);
    EXPECT_EQ(workers(withKernel("kernel gemm 0 30")).advice().state, State::Fires);
}

TEST(LoaderWorkers, WithoutStagesTheRuleOfThumbPredictsNothing)
{
    const Judged judged = workers(R"(
        meta host.cores 2
        main
          repeat 10 every 100
            step 0 0 100
            phase "data wait" 0 50
          end
    )");
    ASSERT_EQ(judged.advice().state, State::Fires);
    ASSERT_TRUE(judged.advice().saving);
    EXPECT_EQ(judged.advice().saving->kind, advisor::SavingKind::UpperBound) << "no stages, so nothing to replay";
    EXPECT_NEAR(judged.advice().saving->high, 50, 1e-6);
    EXPECT_EQ(judged.advice().toggle->to, "2"); // four for the only device, but there are two cores
}

TEST(LoaderWorkers, AWaitDespiteWorkersIsAFinding)
{
    const auto advice =
        Judged("loader_workers",
               "main\nrepeat 5 every 100\nstep 0 0 100\nannotation "
               "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__ 0 40\nop aten::mm 50 40\nend",
               {}, true)
            .advice();
    ASSERT_EQ(advice.state, State::Fires) << advice.reason;
    EXPECT_FALSE(advice.toggle);
    EXPECT_THAT(advice.whyNoToggle, HasId("loader.workers.count_unknown"));
    ASSERT_TRUE(advice.saving);
    EXPECT_EQ(advice.saving->kind, advisor::SavingKind::UpperBound);
    EXPECT_FALSE(advice.evidence.empty());
}

TEST(LoaderWorkers, StepsWithoutPhasesDoNotShowWaits)
{
    EXPECT_EQ(workers("main\nrepeat 10 every 100\nstep 0 0 100\nend").advice().state, State::CannotTell);
}

/// Two workers, each always busy with batches of 200 µs, for steps of 100 µs that compute for 40 µs.
constexpr std::string_view kBusyWorkers = R"(
    meta host.cores 8
    meta host.threads 1
    main
      repeat 20 every 100
        step 0 0 100
        phase "data wait" 0 60
      end
    worker 0
      repeat 10 every 200
        stage decode 0 190
        stage collate 190 10
      end
    worker 1
      repeat 10 every 200
        stage decode 100 190
        stage collate 290 10
      end
)";

TEST(LoaderWorkers, TooFewWorkersBecomeMore)
{
    const Judged judged = workers(std::string(kBusyWorkers), {"loader.workers=2"});
    ASSERT_EQ(judged.advice().state, State::Fires) << judged.advice().reason;
    EXPECT_EQ(judged.advice().toggle->from, "2");
    EXPECT_EQ(judged.advice().toggle->to, "5"); // 200 µs of loading for every 40 µs of computing
    EXPECT_NEAR(judged.advice().saving->mid, 60, 3);
}

TEST(LoaderWorkers, MoreAreNotAdvisedIfAllCoresAreBusy)
{
    std::string text(kBusyWorkers);
    text.replace(text.find("host.cores 8"), 12, "host.cores 2");
    const Judged judged = workers(text, {"loader.workers=2"});
    EXPECT_EQ(judged.advice().state, State::Silent) << judged.advice().reason;
}

Judged prefetch(const std::string& text, const std::vector<std::string>& assignments)
{
    return Judged("loader_prefetch_factor", text, assignments);
}

const Fixture& fixture(std::string_view name)
{
    for (const Fixture& candidate : fixtures())
        if (candidate.name == name)
            return candidate;
    std::abort();
}

TEST(LoaderPrefetchFactor, FiresForStallsOfAFastLoader)
{
    const Judged judged(fixture("loader_prefetch_factor_fires"));
    ASSERT_TRUE(judged.advice().toggle);
    EXPECT_EQ(judged.advice().toggle->from, "2");
    EXPECT_EQ(judged.advice().toggle->to, "4");
    EXPECT_THAT(judged.advice().caveats, Contains(HasNumber("batches", 4)));
}

TEST(LoaderPrefetchFactor, IsSilentIfEnoughBatchesAreInFlight)
{
    const std::string text = fixture("loader_prefetch_factor_fires").text;
    EXPECT_EQ(prefetch(text, {"loader.workers=1", "loader.prefetch_factor=16"}).advice().state, State::Silent);
}

TEST(LoaderPrefetchFactor, IsSilentForALoaderThatIsTooSlowOnAverage)
{
    const Judged judged = prefetch(std::string(kBusyWorkers), {"loader.workers=2"});
    EXPECT_EQ(judged.advice().state, State::Silent);
    EXPECT_THAT(judged.advice().reason, HasId("loader.prefetch_factor.too_slow"));
}

TEST(LoaderPrefetchFactor, ShortWaitsAreSilent)
{
    EXPECT_EQ(prefetch(cpuRun(1000, 49), {"loader.workers=2"}).advice().state, State::Silent);
}

TEST(LoaderWorkers, WithoutStepMarksTheDevicesIdleTimeIsUsed)
{
    const auto judged = [](int waitUs) {
        return Judged("loader_workers",
                      fmt::format("main\nrepeat 4 every 250\n"
                                  "annotation enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__ 100 {}\nend\n"
                                  "stream 0 7\nrepeat 4 every 250\nkernel a 0 100\nkernel a {} {}\nend",
                                  waitUs, 100 + waitUs, 150 - waitUs),
                      {}, true)
            .advice();
    };
    EXPECT_EQ(judged(16).state, State::CannotTell); // three of four waits: the longest is excluded
    EXPECT_EQ(judged(20).state, State::Fires);
    EXPECT_THAT(judged(20).reason, profiler::test::hasIdAndPart("loader.workers.without_steps", "share", "6.00 %"));
    EXPECT_FALSE(judged(20).evidence.empty());
    EXPECT_FALSE(judged(20).saving);
}

TEST(LoaderPrefetchFactor, AnImportedTraceSaysWhoLoads)
{
    const auto judged = [](std::string_view wait) {
        return Judged("loader_prefetch_factor",
                      "main\nrepeat 5 every 100\nstep 0 0 100\n" + std::string(wait) + "\nop aten::mm 50 40\nend", {},
                      true)
            .advice();
    };
    const auto single = judged("annotation enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__ 0 2");
    EXPECT_EQ(single.state, State::Silent);
    EXPECT_THAT(single.reason, profiler::test::hasId("loader.prefetch_factor.no_workers"));
    const auto several = judged("annotation enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__ 0 2");
    EXPECT_EQ(several.state, State::Silent);
    EXPECT_THAT(several.reason, profiler::test::hasIdAndPart("loader.prefetch_factor.short_wait", "share", "2.00 %"));
    EXPECT_EQ(judged("annotation enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__ 0 20").state,
              State::CannotTell);
    EXPECT_EQ(judged("").state, State::CannotTell);
}

} // namespace
} // namespace advisor_test
