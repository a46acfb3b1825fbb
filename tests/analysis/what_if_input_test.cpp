#include "profiler/analysis/replay/what_if_input.h"

#include "profiler/analysis/loader/loader_work.h"
#include "tests/support/trace_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <random>

namespace profiler::analysis {
namespace {

using test_support::traceFromText;
using testing::ElementsAre;

/// Without devices.
InputModel modelOf(const Trace& trace)
{
    const std::vector<Step> steps = findSteps(trace);
    return loadModel(trace, steps, inputWait(trace, steps, {}));
}

/// The recurrence of a pipeline whose threads never share a core. A worker takes batch k when it is free and batch k −
/// capacity was consumed; a step takes batch k when it is ready and the previous step is done.
double pipelineStepUs(const InputModel& model, LoaderSetup setup, std::size_t from, std::size_t to)
{
    const auto capacity = static_cast<std::size_t>(setup.workers * setup.prefetchFactor);
    std::vector<double> freeAt(static_cast<std::size_t>(setup.workers)), taken(to), done(to);
    double mainFree = 0;
    for (std::size_t k = 0; k < to; ++k) {
        double& worker = *std::min_element(freeAt.begin(), freeAt.end());
        const double begin = std::max(worker, k >= capacity ? taken[k - capacity] : 0);
        worker = begin + model.loadUs[k % model.loadUs.size()];
        taken[k] = std::max(mainFree, worker);
        done[k] = mainFree = taken[k] + model.computeUs[k % model.computeUs.size()];
    }
    return (done[to - 1] - done[from - 1]) / static_cast<double>(to - from);
}

/// The same loader simulated in short ticks on a number of cores: every busy thread gets an equal share of each tick.
double tickedStepUs(const InputModel& model, LoaderSetup setup, int computeThreads, bool barrier, std::size_t from,
                    std::size_t to)
{
    struct Thread {
        double left = 0;
        std::size_t batch = 0;
    };
    constexpr double kTick = 0.1;
    const auto capacity = static_cast<std::size_t>(setup.workers * setup.prefetchFactor);
    std::vector<Thread> workers(static_cast<std::size_t>(setup.workers));
    std::vector<bool> ready(to + capacity + 1);
    std::size_t issued = 0, taken = 0, done = 0;
    double left = 0, now = 0, begin = 0;
    while (done < to) {
        if (left <= 0 && ready[taken])
            left = model.computeUs[taken++ % model.computeUs.size()];
        for (Thread& worker : workers)
            if (worker.left <= 0 && issued < taken + capacity) {
                worker = {model.loadUs[issued % model.loadUs.size()], issued};
                ++issued;
            }
        int busy = left > 0 ? computeThreads : 0;
        for (const Thread& worker : workers)
            busy += worker.left > 0;
        const double crowd = static_cast<double>(busy) / model.cores;
        const double pace = kTick / std::max(1.0, barrier ? std::ceil(crowd) : crowd);
        for (Thread& worker : workers)
            if (worker.left > 0 && (worker.left -= pace) <= 1e-9) {
                worker.left = 0;
                ready[worker.batch] = true;
            }
        now += kTick;
        if (left > 0 && (left -= pace) <= 1e-9) {
            left = 0;
            if (++done == from)
                begin = now;
        }
    }
    return (now - begin) / static_cast<double>(to - from);
}

InputModel jitter(int cores, double loadUs, double computeUs, unsigned seed)
{
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> spread(0.3, 1.7);
    InputModel model;
    model.cores = cores;
    for (int i = 0; i < 200; ++i) {
        model.loadUs.push_back(loadUs * spread(random));
        model.computeUs.push_back(computeUs * spread(random));
    }
    model.stepUs = loadUs + computeUs;
    model.waitUs = loadUs;
    return model;
}

InputModel constant(int cores, double loadUs, double computeUs)
{
    InputModel model;
    model.cores = cores;
    model.loadUs.assign(100, loadUs);
    model.computeUs.assign(100, computeUs);
    model.stepUs = loadUs + computeUs;
    model.waitUs = loadUs;
    return model;
}

TEST(WhatIfInput, NoiseWidensTheIntervalButDoesNotChangeWhatTheModelExpects)
{
    InputModel model = constant(4, 800, 1000);
    const InputPrediction quiet = predictInput(model, {0, 2}, {1, 2}, 1);
    model.waitErrorUs = 5000;
    const InputPrediction noisy = predictInput(model, {0, 2}, {1, 2}, 1);
    EXPECT_GT(quiet.modelUs, 700);
    EXPECT_DOUBLE_EQ(noisy.modelUs, quiet.modelUs);
    EXPECT_DOUBLE_EQ(noisy.lowUs, quiet.lowUs - 5000);
}

TEST(WhatIfInput, WithoutWorkersAStepLoadsAndComputes)
{
    EXPECT_DOUBLE_EQ(replayStepUs(constant(2, 60, 40), {0, 2}, 1, CoreSharing::Even), 100);
}

TEST(WhatIfInput, OneWorkerHidesTheShorterOfTheTwo)
{
    EXPECT_NEAR(replayStepUs(constant(2, 60, 40), {1, 2}, 1, CoreSharing::Barrier), 60, 1e-6);
    EXPECT_NEAR(replayStepUs(constant(2, 30, 40), {1, 2}, 1, CoreSharing::Barrier), 40, 1e-6);
}

TEST(WhatIfInput, WorkersBeyondTheCoresShareThem)
{
    // 100 µs of work per step on two cores cannot take less than 50.
    EXPECT_NEAR(replayStepUs(constant(2, 60, 40), {2, 2}, 1, CoreSharing::Even), 50, 0.5);
    EXPECT_GE(replayStepUs(constant(2, 60, 40), {2, 2}, 1, CoreSharing::Barrier),
              replayStepUs(constant(2, 60, 40), {2, 2}, 1, CoreSharing::Even));
}

TEST(WhatIfInput, LoadsThatWaitDoNotUseCores)
{
    InputModel waiting = constant(2, 60, 20);
    waiting.loadCpuShare = 0.1;
    for (const CoreSharing sharing : {CoreSharing::Even, CoreSharing::Barrier})
        EXPECT_NEAR(replayStepUs(waiting, {3, 2}, 1, sharing), 20, 0.5) << "three loads of 60 µs in parallel";
    const InputPrediction working = predictInput(constant(2, 60, 20), {0, 2}, {3, 2}, 1);
    const InputPrediction saved = predictInput(waiting, {0, 2}, {3, 2}, 1);
    EXPECT_GT(saved.lowUs, working.highUs) << "two cores cannot do 80 µs of work in less than 40";
}

TEST(WhatIfInput, TheShareOfWorkInALoadComesFromTheTrace)
{
    const std::string loop =
        "main\nstep 0 0 100\nphase \"data wait\" 0 60\nstep 1 100 100\nphase \"data wait\" 100 60\n";
    EXPECT_EQ(modelOf(*traceFromText(loop)).loadCpuShare, 1) << "not recorded: all of it may be work";
    EXPECT_EQ(modelOf(*traceFromText("meta loader.load_cpu_share 0.25\n" + loop)).loadCpuShare, 0.25);
    EXPECT_EQ(modelOf(*traceFromText("meta loader.load_cpu_share 7\n" + loop)).loadCpuShare, 1);
}

TEST(WhatIfInput, AgreesWithThePipelinesRecurrenceWhenCoresAreFree)
{
    for (const unsigned seed : {1U, 2U, 3U})
        for (const LoaderSetup setup : {LoaderSetup{1, 2}, LoaderSetup{2, 1}, LoaderSetup{2, 4}, LoaderSetup{4, 2}}) {
            const InputModel model = jitter(64, 90, 50, seed);
            const auto from = static_cast<std::size_t>(setup.workers * setup.prefetchFactor + setup.workers + 1);
            EXPECT_NEAR(replayStepUs(model, setup, 1, CoreSharing::Barrier),
                        pipelineStepUs(model, setup, from, from + 200), 1e-6)
                << setup.workers << " × " << setup.prefetchFactor;
        }
}

TEST(WhatIfInput, AgreesWithASimulationInTicksWhenCoresAreShared)
{
    for (const int cores : {1, 2, 3})
        for (const LoaderSetup setup : {LoaderSetup{1, 2}, LoaderSetup{2, 2}, LoaderSetup{3, 1}})
            for (const bool barrier : {false, true}) {
                const InputModel model = jitter(cores, 60, 40, 5);
                const auto from = static_cast<std::size_t>(setup.workers * setup.prefetchFactor + setup.workers + 1);
                const double expected = tickedStepUs(model, setup, 2, barrier, from, from + 200);
                EXPECT_NEAR(replayStepUs(model, setup, 2, barrier ? CoreSharing::Barrier : CoreSharing::Even), expected,
                            0.01 * expected)
                    << cores << " cores, " << setup.workers << " workers, barrier " << barrier;
            }
}

TEST(WhatIfInput, MoreWorkersOrBatchesInFlightAreNeverSlowerOnFreeCores)
{
    const InputModel model = jitter(64, 150, 50, 11);
    double before = replayStepUs(model, {0, 2}, 1, CoreSharing::Even);
    for (int workers = 1; workers <= 6; ++workers) {
        const double after = replayStepUs(model, {workers, 2}, 1, CoreSharing::Even);
        EXPECT_LE(after, before * 1.001) << workers;
        before = after;
    }
    before = replayStepUs(model, {3, 1}, 1, CoreSharing::Even);
    for (int factor = 2; factor <= 8; ++factor) {
        const double after = replayStepUs(model, {3, factor}, 1, CoreSharing::Even);
        EXPECT_LE(after, before * 1.001) << factor;
        before = after;
    }
}

TEST(WhatIfInput, TheRangeIsOrderedAndLimitedToTheWait)
{
    for (const int cores : {0, 1, 2, 4, 16})
        for (const int workers : {1, 2, 4, 8}) {
            const InputModel model = jitter(cores, 70, 30, 3);
            const InputPrediction saved = predictInput(model, {0, 2}, {workers, 2}, 2);
            EXPECT_LE(saved.lowUs, saved.midUs);
            EXPECT_LE(saved.midUs, saved.highUs);
            EXPECT_LE(saved.highUs, model.waitUs + 1e-9); // two standard errors are added before this limit
        }
}

TEST(WhatIfInput, NoiseWidensTheRangeOfMoreWorkersEvenOnFreeCores)
{
    const InputPrediction calm = predictInput(constant(8, 60, 40), {0, 2}, {1, 2}, 1);
    EXPECT_DOUBLE_EQ(calm.lowUs, calm.highUs);
    InputModel uneven = constant(8, 60, 40);
    for (std::size_t i = 0; i < uneven.loadUs.size(); i += 5)
        uneven.loadUs[i] = 90; // a fifth of the loads takes 50 % longer: mean 66, 90th percentile 90
    uneven.stepUs = 106;
    uneven.waitUs = 66;
    const InputPrediction disturbed = predictInput(uneven, {0, 2}, {2, 4}, 1);
    EXPECT_NEAR(disturbed.highUs, 66, 0.5);
    EXPECT_NEAR(disturbed.lowUs, 106 - 66 * 90.0 / 66 / 2, 1); // two workers load a batch in 90 each: 45 per step
}

TEST(WhatIfInput, WithUnknownCoresTheRangeCoversNothingToEverything)
{
    InputModel model = constant(0, 60, 40);
    const InputPrediction saved = predictInput(model, {0, 2}, {2, 2}, 1);
    EXPECT_NEAR(saved.lowUs, 0, 0.5);
    EXPECT_NEAR(saved.highUs, 60, 0.5);
}

TEST(WhatIfInput, TheErrorOfTheWaitIsTwoStandardErrors)
{
    const auto model = [](int first, int second) {
        std::string text = "main\n";
        for (int i = 0; i < 20; ++i)
            text += fmt::format("step {0} {1} 1000\nphase \"data wait\" {1} {2}\nphase forward {3} 500\n", i, 1000 * i,
                                i % 2 == 0 ? first : second, 1000 * i + 400);
        return modelOf(*traceFromText(text));
    };
    EXPECT_NEAR(model(200, 200).waitErrorUs, 0, 1e-6);
    // Each steady step differs from the mean by 100 µs.
    EXPECT_NEAR(model(300, 100).waitErrorUs, 2 * 100 / std::sqrt(19), 3);
}

TEST(WhatIfInput, TheErrorOfTheWaitWidensTheRangeOnBothSides)
{
    InputModel model{.loadUs = {150}, .computeUs = {100}, .workers = 1, .cores = 8, .stepUs = 150, .waitUs = 50};
    const auto exact = predictInput(model, {1, 2}, {2, 2}, 1);
    model.waitErrorUs = 10;
    const auto unsure = predictInput(model, {1, 2}, {2, 2}, 1);
    EXPECT_NEAR(exact.highUs, 50, 1e-6);
    EXPECT_NEAR(unsure.lowUs, exact.lowUs - 10, 1e-6);
    EXPECT_NEAR(unsure.highUs, 60, 1e-6);
}

TEST(WhatIfInput, TheSameSetupSavesNothing)
{
    const InputPrediction saved = predictInput(jitter(2, 60, 40, 9), {1, 2}, {1, 2}, 1);
    EXPECT_DOUBLE_EQ(saved.lowUs, 0);
    EXPECT_DOUBLE_EQ(saved.highUs, 0);
}

TEST(WhatIfInput, PredictsNothingWithoutRecordedLoads)
{
    const auto trace = traceFromText("main\nrepeat 5 every 100\nstep 0 0 100\nphase \"data wait\" 0 50\nend");
    const InputModel model = modelOf(*trace);
    EXPECT_FALSE(model.canPredict());
    EXPECT_EQ(predictInput(model, {0, 2}, {1, 2}, 1).highUs, 0);
}

TEST(WhatIfInput, SequencesComeFromTheTraceInOrder)
{
    const auto trace = traceFromText(R"(
        meta host.cores 2
        main
          step 0 0 100
          step 1 100 100
          phase "data wait" 100 20
          stage decode 100 18
          step 2 200 110
          phase "data wait" 200 50
          stage decode 200 50
          step 3 310 100
          phase "data wait" 310 30
          stage decode 310 30
    )");
    const InputModel model = modelOf(*trace);
    EXPECT_THAT(model.loadUs, ElementsAre(20, 50, 30)); // the time of the thread, not only of the stages
    EXPECT_THAT(model.computeUs, ElementsAre(80, 60, 70));
    EXPECT_EQ(model.cores, 2);
}

} // namespace
} // namespace profiler::analysis
