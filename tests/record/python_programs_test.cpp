#include "tests/record/python_script.h"
#include "tests/record/recorded_run.h"

#include <algorithm>
#include <fstream>
#include <gmock/gmock.h>
#include <iterator>

// Programs whose loops are in libraries, or that do things that a recorder in their process might not expect.
namespace record_test {

using namespace profiler;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;

namespace {

std::shared_ptr<const Trace> loop(const Folder& folder, const std::string& kind)
{
    const Ended ended = record(folder, python("loops.py", kind));
    EXPECT_EQ(ended.status, 0) << ended.err;
    EXPECT_EQ(ended.out, "");
    return trace(folder);
}

/// Names of the phases on the training loop's track.
std::vector<std::string> phases(const Trace& trace, const std::string& track = "training loop")
{
    std::vector<std::string> found;
    for (const Slice& slice : trace.ofKind(ActivityKind::Phase))
        if (trace.track(slice.id.track).name == track)
            found.emplace_back(trace.name(slice));
    return found;
}

auto countOf(const std::vector<std::string>& names, std::string_view name)
{
    return std::count(names.begin(), names.end(), name);
}

/// No phase is inside another one on its track.
void expectNoNesting(const Trace& trace)
{
    for (const Slice& outer : trace.ofKind(ActivityKind::Phase))
        for (const Slice& inner : trace.ofKind(ActivityKind::Phase))
            EXPECT_FALSE(outer.id.track == inner.id.track && inner.begin > outer.begin && inner.end() <= outer.end())
                << trace.name(inner) << " in " << trace.name(outer);
}

} // namespace

TEST(RecordPrograms, ALoopThatFetchesOneBatchAheadHasAllItsSteps)
{
    const Folder folder;
    const auto recorded = loop(folder, "asks_one_ahead");
    EXPECT_EQ(recorded->ofKind(ActivityKind::Step).size(), 6U);
    expectNoNesting(*recorded);
}

TEST(RecordPrograms, AThreadThatFetchesAheadHasItsOwnTrack)
{
    const Folder folder;
    const auto recorded = loop(folder, "thread_fetches_ahead");
    expectNoNesting(*recorded);
    EXPECT_EQ(countOf(phases(*recorded), "data wait"), 0) << "the loop does not wait for the loader";
    EXPECT_EQ(countOf(phases(*recorded), "backward"), 6);
    EXPECT_THAT(phases(*recorded, "Python thread 2"), testing::AllOf(testing::SizeIs(7), Each("data wait")));
    EXPECT_EQ(recorded->captureStats().unmatched, 0U);
}

TEST(RecordPrograms, TheClosureOfAnOptimizerStepIsNotOptimizerTime)
{
    const Folder folder;
    const auto recorded = loop(folder, "closure");
    expectNoNesting(*recorded);
    EXPECT_EQ(recorded->ofKind(ActivityKind::Step).size(), 6U);
    EXPECT_EQ(countOf(phases(*recorded), "backward"), 6);
    EXPECT_EQ(countOf(phases(*recorded), "optimizer"), 2 * 6) << "before the closure, and after it";
}

TEST(RecordPrograms, AnOptimizerStepThatRaisesLeavesNothingOpen)
{
    const Folder folder;
    const auto recorded = loop(folder, "step_raises");
    expectNoNesting(*recorded);
    EXPECT_EQ(countOf(phases(*recorded), "optimizer"), 6) << "five, and the one that raised";
    EXPECT_EQ(recorded->captureStats().unmatched, 0U);
    EXPECT_FALSE(recorded->captureStats().cut);
}

TEST(RecordPrograms, BatchesThatTheProgramKeepsAreStepsToo)
{
    const Folder folder;
    EXPECT_EQ(loop(folder, "kept_batches")->ofKind(ActivityKind::Step).size(), 12U);
}

struct Loop {
    const char* name;
    std::size_t steps;
};

class RecordedLoops : public testing::TestWithParam<Loop> {};

// A step ends when the optimizers finish their repeating cycle.
TEST_P(RecordedLoops, HaveTheStepsOfTheirOptimizersCycle)
{
    const Folder folder;
    const auto recorded = loop(folder, GetParam().name);
    const auto steps = recorded->ofKind(ActivityKind::Step);
    EXPECT_EQ(steps.size(), GetParam().steps);
    for (std::size_t i = 1; i < steps.size(); ++i) {
        EXPECT_LE(steps[i - 1].end(), steps[i].begin);
        EXPECT_EQ(steps[i].args.value, static_cast<std::int64_t>(i));
    }
    EXPECT_EQ(recorded->captureStats().unmatched, 0U);
}

INSTANTIATE_TEST_SUITE_P(Python, RecordedLoops,
                         testing::Values(Loop{"two_optimizers", 6}, Loop{"gan", 6}, Loop{"gan_without_loader", 6},
                                         Loop{"critic", 6}, Loop{"critic_with_loader", 8}, Loop{"models_in_turn", 12},
                                         Loop{"scaler_skips", 6}, Loop{"accumulation_without_loader", 5},
                                         Loop{"frozen_norms", 6}, Loop{"no_optimizer", 0}, Loop{"one_batch", 40},
                                         Loop{"one_batch_a_few_times", 5}, Loop{"several_steps_on_each_batch", 6}),
                         [](const auto& loop) { return std::string(loop.param.name); });

class LoopsWithOtherWork : public testing::TestWithParam<Loop> {};

TEST_P(LoopsWithOtherWork, HaveItOutsideTheirSteps)
{
    const Folder folder;
    const auto recorded = loop(folder, GetParam().name);
    const auto steps = recorded->ofKind(ActivityKind::Step);
    EXPECT_EQ(steps.size(), GetParam().steps);
    std::size_t others = 0;
    for (const Slice& phase : recorded->ofKind(ActivityKind::Phase)) {
        if (recorded->name(phase) != phase::kValidation && recorded->name(phase) != phase::kCheckpoint)
            continue;
        ++others;
        EXPECT_GE(phase.duration.count(), 100'000'000) << "the script sleeps in it";
        for (const Slice& step : steps)
            EXPECT_TRUE(phase.end() <= step.begin || step.end() <= phase.begin)
                << recorded->name(phase) << " in a step";
    }
    EXPECT_GE(others, 3U);
}

INSTANTIATE_TEST_SUITE_P(Python, LoopsWithOtherWork,
                         testing::Values(Loop{"evaluation_without_loader", 9}, Loop{"generation_after_batches", 6},
                                         Loop{"average_is_validated", 18}),
                         [](const auto& loop) { return std::string(loop.param.name); });

TEST(RecordPrograms, ModelsThatAreTrainedOneAfterAnotherArePhasesOfTheProgram)
{
    const Folder folder;
    const auto recorded = loop(folder, "models_in_turn");
    const auto phases = nlohmann::json::parse(recorded->metadata().at("program"))["training_phases"];
    ASSERT_EQ(phases.size(), 2U);
    EXPECT_EQ(phases[0]["last_step"], 5);
    EXPECT_EQ(phases[1]["first_step"], 6);
    EXPECT_NE(phases[0]["optimizers"], phases[1]["optimizers"]);
}

TEST(RecordPrograms, AValidationThatIsLeftEarlyIsInNoStep)
{
    const Folder folder;
    const auto recorded = loop(folder, "validation_left_early");
    const auto steps = recorded->ofKind(ActivityKind::Step);
    EXPECT_EQ(steps.size(), 6U);
    int validations = 0;
    for (const Slice& slice : recorded->ofKind(ActivityKind::UserAnnotation)) {
        ++validations;
        // It begins within the preceding step and ends in none.
        for (const Slice& step : steps)
            EXPECT_FALSE(step.begin <= slice.end() && slice.end() < step.end());
    }
    EXPECT_EQ(validations, 3);
}

TEST(RecordPrograms, LoadersThatAreAskedInTurnsAreOneStepFromTheFirstOnesWait)
{
    const Folder folder;
    const auto recorded = loop(folder, "two_loaders_in_turns");
    const auto steps = recorded->ofKind(ActivityKind::Step);
    ASSERT_EQ(steps.size(), 6U);
    std::vector<int> waits(6);
    for (const Slice& phase : recorded->ofKind(ActivityKind::Phase))
        for (std::size_t i = 0; i < 6 && recorded->name(phase) == "data wait"; ++i)
            waits[i] += steps[i].begin <= phase.begin && phase.end() <= steps[i].end() ? 1 : 0;
    EXPECT_THAT(waits, Each(2));
}

TEST(RecordPrograms, WorkersEndWithTheLoopThatIsLeft)
{
    const Folder folder;
    loop(folder, "left_with_workers");
}

TEST(RecordPrograms, ACompiledOptimizerIsLeftAsItIs)
{
    const Folder folder;
    const auto recorded = loop(folder, "compiled");
    EXPECT_EQ(countOf(phases(*recorded), "backward"), 6);
    EXPECT_EQ(recorded->captureStats().unmatched, 0U);
}

TEST(RecordPrograms, NamesMayBeAnything)
{
    const Folder folder;
    const auto recorded = loop(folder, "odd_names");
    EXPECT_THAT(names(*recorded, ActivityKind::UserAnnotation), testing::SizeIs(5));
    EXPECT_THAT(names(*recorded, ActivityKind::UserAnnotation), Contains("?"));
    EXPECT_THAT(names(*recorded, ActivityKind::UserAnnotation), Contains("7"));
    EXPECT_EQ(recorded->ofKind(ActivityKind::Step).size(), 6U);
    EXPECT_EQ(summary(folder)["steps"]["count"], 6) << "and can be printed";
}

// Writes to a descriptor number that the program has closed and reused would end up in the program's file.
TEST(RecordPrograms, AProgramThatClosesAllFilesKeepsItsOwnAndItsTrace)
{
    const Folder folder;
    const Ended ended = record(folder, python("closes_files.py", (folder / "own").string()));
    EXPECT_EQ(ended.status, 0) << ended.err;
    for (int number = 0; number < 8; ++number) {
        std::ifstream file(folder / ("own" + std::to_string(number)), std::ios::binary);
        EXPECT_EQ(std::string(std::istreambuf_iterator(file), {}), "mine");
    }
    EXPECT_THAT(names(*trace(folder), ActivityKind::UserAnnotation),
                ElementsAre("before", "after", "after", "after", "after"));
    EXPECT_FALSE(trace(folder)->captureStats().cut);
}

} // namespace record_test
