#include "advisor/experiment/program_experiment.h"

#include "advisor/change/program_setup.h"
#include "advisor/runner/shell_words.h"
#include "advisor/runner/unified_diff.h"
#include "app/terminal/commands.h"
#include "app/terminal/experiment_json.h"
#include "app/terminal/experiment_text.h"
#include "app/terminal/interrupt.h"
#include "app/terminal/interrupt_watch.h"
#include "app/terminal/json_text.h"
#include "app/terminal/open_trace.h"
#include "app/terminal/program_options.h"
#include "app/terminal/recordings.h"

#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

namespace app::terminal {

using namespace advisor;

namespace {

namespace fs = std::filesystem;
using profiler::Error;
using profiler::Result;

/// Objects that live as long as the command runs.
struct Session {
    std::ostream& err;
    std::stop_token stop;
    Recordings recordings = {};
};

Result<std::string> readText(const fs::path& path)
{
    std::ifstream file(path, std::ios::binary);
    std::string text((std::istreambuf_iterator<char>(file)), {});
    if (!file)
        return profiler::fail<"file.not_read", "The file cannot be read">(Error::Code::NotFound, path.string(),
                                                                          "check its path");
    return text;
}

Result<std::vector<change::WantedChange>> wantedChanges(const std::vector<std::string>& assignments)
{
    std::vector<change::WantedChange> changes;
    for (const std::string& assignment : assignments) {
        const std::size_t equals = assignment.find('=');
        if (equals == std::string::npos || equals == 0)
            return profiler::fail<"experiment.program.assignment", "{assignment} is not key=value">(
                Error::Code::Invalid, "--set", "write --set loader.workers=4", {{"assignment", assignment}});
        changes.push_back({assignment.substr(0, equals), assignment.substr(equals + 1)});
    }
    return changes;
}

/// The recording that --trace names; otherwise, a new one.
Result<std::shared_ptr<const profiler::Trace>> recordingOf(const ExperimentOptions& options, const ProgramSetup& setup,
                                                           Session& session)
{
    if (!options.trace.empty())
        return openTrace(options.trace);
    session.err << "recording the program to find its settings (--trace uses an existing recording)" << std::endl;
    return session.recordings.record(setup, setup.arms[0], session.stop);
}

/// Sets arm B from --set, with the program's objects as recorded.
Result<void> addSettings(const ExperimentOptions& options, ProgramPlan& plan, Session& session)
{
    const auto wanted = wantedChanges(options.assignments);
    if (!wanted)
        return tl::unexpected(wanted.error());
    const auto trace = recordingOf(options, plan.setup, session);
    if (!trace)
        return tl::unexpected(trace.error());
    return change::setChanges(plan, **trace, {.changes = *wanted, .kept = {}, .advice = nullptr, .patcher = {}});
}

/// Sets arm B from --set, --patch or --against.
Result<void> addChange(const ExperimentOptions& options, ProgramPlan& plan, Session& session)
{
    if (!options.assignments.empty())
        return addSettings(options, plan, session);
    if (!options.against.empty())
        return change::setCommand(plan, options.against);
    if (options.patch.empty())
        return {};
    auto diff = readText(options.patch);
    if (!diff)
        return tl::unexpected(diff.error());
    return change::setDiff(plan, std::move(*diff));
}

Result<ProgramPlan> planOf(const ExperimentOptions& options, Session& session)
{
    ProgramPlan plan;
    auto setup = programSetup(options);
    if (!setup)
        return tl::unexpected(setup.error());
    plan.setup = std::move(*setup);
    plan.budget = std::chrono::seconds(options.budgetSeconds);
    plan.turn = std::chrono::milliseconds(options.turnMilliseconds);
    plan.horizon = std::chrono::seconds(options.horizonSeconds);
    if (const auto changed = addChange(options, plan, session); !changed) {
        removeUnusedLogs(options, plan.setup);
        return tl::unexpected(changed.error());
    }
    if (!options.measure.empty())
        change::setMeasure(plan, options.measure);
    return plan;
}

void print(const ProgramPlan& plan, const ProgramResult& result, std::ostream& out)
{
    const ProgramSetup& setup = plan.setup;
    out << "A: " << runner::commandLine(setup.arms[0].command) << '\n';
    if (setup.arms[1].command != setup.arms[0].command)
        out << "B: " << runner::commandLine(setup.arms[1].command) << '\n';
    for (const runner::ReplacedFile& file : setup.arms[1].files)
        out << "B: with another " << file.path.string() << '\n';
    // The user knows a diff of their own.
    if (!plan.changes.empty()) {
        std::istringstream diff(runner::diffInFolder(plan.patch.diff, setup.folder));
        for (std::string line; std::getline(diff, line);)
            out << "    " << line << '\n';
    }
    if (plan.patch.how.empty())
        out << "B: unchanged\n";
    if (result.isRefused) {
        out << fmt::format("{}: {}\n", verdictName(result), result.measured.whyText());
        for (const std::string& line : result.program.failure->traceback)
            out << "    " << line << '\n';
        for (const PatchedLine& line : result.patchedLines)
            out << fmt::format("changed line: {}:{}: {}\n", line.file.string(), line.line, line.text);
    } else {
        printResult(result.measured, out);
    }
    out << fmt::format("isolation: {}; the arms' output is in {}\n", runner::isolationName(setup.isolation),
                       setup.logs.string());
}

} // namespace

int programExperiment(const ExperimentOptions& options, const Streams& streams)
{
    catchInterrupts();
    std::stop_source stop;
    const InterruptWatch watch(stop);
    Session session{streams.err, stop.get_token()};
    const auto plan = planOf(options, session);
    if (!plan) {
        streams.err << plan.error().message() << '\n';
        return plan.error().code == Error::Code::Cancelled ? kInterrupted : kBadInput;
    }
    const auto follow = [&](const ExperimentProgress& progress) { printProgress(progress, streams.err); };
    const auto result = runProgramExperiment(*plan, follow, stop.get_token());
    if (!result) {
        streams.err << result.error().message() << '\n';
        const bool isStopped = result.error().code == Error::Code::Cancelled;
        if (!isStopped)
            streams.err << "The arms' output is in " << plan->setup.logs.string() << '\n';
        return isStopped ? kInterrupted : kBadInput;
    }
    if (options.json)
        streams.out << jsonText(toJson(*plan, *result)) << '\n';
    else
        print(*plan, *result, streams.out);
    return kDone;
}

} // namespace app::terminal
