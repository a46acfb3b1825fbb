#include "advisor/experiment/program_experiment.h"

#include "advisor/experiment/driver.h"
#include "advisor/knob_changes.h"
#include "advisor/runner/child_process.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <string_view>
#include <utility>

namespace advisor {

using profiler::Error;
using profiler::Result;

namespace {

/// The arms of an A/A experiment.
bool isSame(const ProgramVariant& a, const ProgramVariant& b)
{
    return a.command == b.command && a.files.empty() && b.files.empty() && a.hookChanges == b.hookChanges;
}

ExperimentPlan experimentPlan(const ProgramPlan& plan)
{
    ExperimentPlan experiment;
    experiment.changes = plan.changes;
    experiment.isChangeUnknown = plan.changes.empty() && !isSame(plan.setup.arms[0], plan.setup.arms[1]);
    experiment.measure = plan.measure;
    experiment.predicted = plan.predicted;
    experiment.budget = plan.budget;
    experiment.turn = plan.turn;
    experiment.horizon = plan.horizon;
    experiment.objective = plan.changes.empty() || plan.isTimeChosen ? Objective::Time : objectiveOf(plan.changes);
    return experiment;
}

/// The file as the baseline sees it.
std::string baselineText(const ProgramVariant& baseline, const std::filesystem::path& path)
{
    for (const runner::ReplacedFile& file : baseline.files)
        if (file.path == path)
            return file.text;
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::string trimmed(const std::string& text)
{
    constexpr const char* kBlanks = " \t\r";
    const std::size_t begin = text.find_first_not_of(kBlanks);
    return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

std::vector<PatchedLine> patchedLines(const ProgramSetup& setup)
{
    std::vector<PatchedLine> lines;
    for (const runner::ReplacedFile& file : setup.arms[1].files) {
        std::istringstream before(baselineText(setup.arms[0], file.path)), after(file.text);
        std::string old, now;
        for (std::size_t line = 1; std::getline(after, now); ++line)
            if (!std::getline(before, old) || old != now) {
                lines.push_back({file.path, line, trimmed(now)});
                break;
            }
    }
    return lines;
}

profiler::Message refusal(const ProgramFailure& failure, const std::vector<PatchedLine>& lines)
{
    const std::string last = failure.traceback.empty() ? failure.how : failure.traceback.back();
    if (lines.empty())
        return profiler::message<"experiment.refused",
                                 "The program runs without the change and fails with it: {error}">({{"error", last}});
    const PatchedLine& first = lines.front();
    return profiler::message<"experiment.refused_at",
                             "The program runs without the change and fails with it in {file}:{line}: {error}">(
        {{"file", first.file.string()}, {"line", first.line, std::to_string(first.line)}, {"error", last}});
}

profiler::Message tooShort(const ExperimentPlan& plan)
{
    const std::string& measure = plan.measure;
    if (isScreening(plan))
        return profiler::message<"experiment.too_short_for_horizon",
                                 "The run is too short: both arms have to train for the same time; increase its epochs "
                                 "or steps, or choose a "
                                 "shorter time with --horizon.">();
    if (measure == "validation")
        return profiler::message<
            "experiment.no_validation",
            "The program runs no validation that could be timed; without a validation, this change saves nothing.">();
    if (measure == "epoch")
        return profiler::message<
            "experiment.no_second_epoch",
            "No epoch could be timed, because no later epoch uses the same loader; increase the number of epochs.">();
    return profiler::message<"experiment.too_short",
                             "The run is too short to be measured; increase its epochs or steps.">();
}

/// True if the program failed because its standard streams are not a terminal: "OSError: [Errno 25] Inappropriate ioctl
/// for device" from os.get_terminal_size(), or errors of termios and curses.
bool asksForTerminal(const std::optional<ProgramFailure>& failure)
{
    constexpr std::array<std::string_view, 5> kTexts = {"Inappropriate ioctl for device", "termios.error",
                                                        "_curses.error", "not a tty", "not a terminal"};
    if (!failure)
        return false;
    return std::ranges::any_of(failure->traceback, [&](std::string_view line) {
        return std::ranges::any_of(kTexts, [&](std::string_view text) { return line.find(text) != line.npos; });
    });
}

/// True if the program failed because it could not write. This has nothing to do with the change.
bool lacksSpace(const std::optional<ProgramFailure>& failure)
{
    return failure && std::ranges::any_of(failure->traceback, namesFullDisk);
}

/// Notes about the program in addition to the verdict.
void addNotes(ProgramResult& result, bool terminalAdded)
{
    auto& notes = result.measured.notes;
    if (const auto& losses = result.measured.lossAtEqualTime; losses && isScreening(result.measured.plan))
        notes.push_back(profiler::message<"experiment.note.own_schedule",
                                          "Both arms train the first {seconds} of the program's own run; its learning "
                                          "rate schedule is not shortened to that time.">(
            {{"seconds", losses->seconds, fmt::format("{:.3g} s", losses->seconds)}}));
    if (result.program.sumsLosses)
        notes.push_back(profiler::message<"experiment.note.sums_losses",
                                          "The program's loss grows with its batch, so that losses of different batch "
                                          "sizes were not compared.">());
    if (terminalAdded)
        notes.push_back(profiler::message<"experiment.note.terminal",
                                          "The program needs a terminal: both arms were given a pseudo-terminal.">());
    if (!result.program.seeded.empty()) {
        std::string libraries;
        for (const std::string& library : result.program.seeded)
            libraries += (libraries.empty() ? "" : ", ") + library;
        notes.push_back(
            profiler::message<"experiment.note.seeded",
                              "The program does not set a seed for {libraries}: both arms used the same one.">(
                {{"libraries", libraries}}));
    }
    if (const std::int64_t restarts = result.program.restarts[0] + result.program.restarts[1]; restarts > 0)
        notes.push_back(profiler::message<"experiment.note.restarted",
                                          "The program is short: it was restarted {count} in the middle of a turn.">(
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
    const ExperimentPlan experiment = experimentPlan(plan);
    const auto begin = RunLimits::Clock::now();
    const auto monitor = systemMonitor();
    RunLimits limits;
    limits.stop = std::move(stop);
    if (plan.budget.count() > 0)
        limits.deadline = begin + plan.budget;
    ProgramSetup setup = plan.setup;
    setup.comparesLearning = isScreening(experiment);
    auto arms = std::make_unique<ProgramArms>(setup);
    auto measured = driveExperiment({experiment, *arms, *monitor, progress, limits});
    const bool needsTerminal = !measured && !plan.setup.terminal && measured.error().code != Error::Code::Cancelled &&
                               asksForTerminal(arms->report().failure);
    if (needsTerminal) {
        setup.terminal = true;
        arms = std::make_unique<ProgramArms>(std::move(setup));
        measured = driveExperiment({experiment, *arms, *monitor, progress, limits});
    }
    ProgramResult result;
    if (measured) {
        result.measured = std::move(*measured);
    } else {
        result.measured.plan = experiment;
        const auto& failure = arms->report().failure;
        if (arms->report().isTooShort)
            result.measured.why = tooShort(experiment);
        else if (measured.error().code != Error::Code::Cancelled && lacksSpace(failure))
            return profiler::fail<"experiment.program.disk_full", "The disk is full: {error}">(
                Error::Code::Io, failure->arm == 0 ? "the baseline" : "the change",
                "free space where the programs write; in a private view, this is the folder for temporary files "
                "(TMPDIR)",
                {{"error", measured.error().message()}});
        else if (measured.error().code != Error::Code::Cancelled && failure && failure->arm == 1 &&
                 arms->baselineGetsAsFar(limits))
            result.isRefused = true;
        else
            return tl::unexpected(measured.error());
    }
    result.program = arms->report();
    if (result.isRefused) {
        result.patchedLines = patchedLines(plan.setup);
        result.measured.why = refusal(*result.program.failure, result.patchedLines);
    }
    result.measured.secondsSpent = std::chrono::duration<double>(RunLimits::Clock::now() - begin).count();
    addNotes(result, needsTerminal);
    return result;
}

} // namespace advisor
