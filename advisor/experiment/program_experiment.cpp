#include "advisor/experiment/program_experiment.h"

#include "advisor/experiment/driver.h"
#include "advisor/judged_by.h"

#include <utility>

namespace advisor {

using profiler::Error;
using profiler::Result;

namespace {

/// The arms of an A against A.
bool isSame(const ProgramVariant& a, const ProgramVariant& b)
{
    return a.command == b.command && a.files.empty() && b.files.empty() && a.hookChanges == b.hookChanges;
}

Result<ExperimentPlan> experimentPlan(const ProgramPlan& plan)
{
    ExperimentPlan steps;
    steps.changes = plan.changes;
    steps.isChangeUnknown = plan.changes.empty() && !isSame(plan.setup.arms[0], plan.setup.arms[1]);
    steps.predicted = plan.predicted;
    steps.budget = plan.budget;
    steps.turn = plan.turn;
    steps.judgedBy = plan.changes.empty() ? JudgedBy::Time : judgedBy(plan.changes);
    if (steps.judgedBy == JudgedBy::LossAtEqualTime)
        return profiler::fail<"experiment.program.judged_by_loss", "This change is judged by what the training learns">(
            Error::Code::Unsupported, plan.changes.front().key,
            "apply it and compare the losses of whole trainings: only time and memory of a "
            "program's steps are measured");
    return steps;
}

profiler::Message refusal(const ProgramFailure& failure)
{
    const std::string last = failure.traceback.empty() ? failure.how : failure.traceback.back();
    return profiler::message<"experiment.refused", "The program runs unchanged, and fails with the change: {error}">(
        {{"error", last}});
}

/// What a reader has to know of the program besides the verdict.
void addNotes(ProgramResult& result)
{
    auto& notes = result.measured.notes;
    if (!result.program.seeded.empty()) {
        std::string libraries;
        for (const std::string& library : result.program.seeded)
            libraries += (libraries.empty() ? "" : ", ") + library;
        notes.push_back(
            profiler::message<"experiment.note.seeded",
                              "The program sets no seed for {libraries}: both arms were given the same one.">(
                {{"libraries", libraries}}));
    }
    if (const std::int64_t restarts = result.program.restarts[0] + result.program.restarts[1]; restarts > 0)
        notes.push_back(
            profiler::message<"experiment.note.restarted",
                              "The program is short: it was started again {count} in the middle of a turn.">(
                {{"count", restarts, std::to_string(restarts) + (restarts == 1 ? " time" : " times")}}));
}

} // namespace

std::string_view verdictName(const ProgramResult& result)
{
    return result.isRefused ? "refused by the program" : verdictName(result.measured.verdict);
}

Result<ProgramResult> runProgramExperiment(const ProgramPlan& plan,
                                           const std::function<void(const ExperimentProgress&)>& progress,
                                           std::stop_token stop)
{
    const auto steps = experimentPlan(plan);
    if (!steps)
        return tl::unexpected(steps.error());
    const auto begin = Bounds::Clock::now();
    ProgramArms arms(plan.setup);
    const auto monitor = systemMonitor();
    Bounds bounds;
    bounds.stop = std::move(stop);
    if (plan.budget.count() > 0)
        bounds.deadline = begin + plan.budget;
    auto measured = driveExperiment({*steps, arms, *monitor, progress, bounds});
    ProgramResult result;
    if (measured) {
        result.measured = std::move(*measured);
    } else {
        result.measured.plan = *steps;
        const auto& failure = arms.report().failure;
        if (arms.report().isTooShort)
            result.measured.why =
                profiler::message<"experiment.too_short",
                                  "The run is too short to be measured; raise its epochs or steps.">();
        else if (measured.error().code != Error::Code::Cancelled && failure && failure->arm == 1 &&
                 arms.baselineGetsAsFar(bounds))
            result.isRefused = true;
        else
            return tl::unexpected(measured.error());
    }
    result.program = arms.report();
    if (result.isRefused)
        result.measured.why = refusal(*result.program.failure);
    result.measured.secondsSpent = std::chrono::duration<double>(Bounds::Clock::now() - begin).count();
    addNotes(result);
    return result;
}

} // namespace advisor
