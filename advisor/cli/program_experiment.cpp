#include "advisor/experiment/program_experiment.h"

#include "advisor/change/program_patch.h"
#include "advisor/cli/commands.h"
#include "advisor/cli/experiment_json.h"
#include "advisor/cli/experiment_text.h"
#include "advisor/cli/interrupt.h"
#include "advisor/cli/interrupt_watch.h"
#include "advisor/cli/json_text.h"
#include "advisor/cli/open_trace.h"
#include "advisor/runner/launch_check.h"
#include "advisor/runner/shell_words.h"
#include "advisor/runner/unified_diff.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

namespace advisor::cli {

namespace {

namespace fs = std::filesystem;
using profiler::Error;
using profiler::Result;

/// What is measured, and how it is shown.
struct Measured {
    ProgramPlan plan;
    ProgramPatch patch;
};

runner::Isolation isolationOf(const std::string& name)
{
    return name == "copy"       ? runner::Isolation::Copy
           : name == "in-place" ? runner::Isolation::InPlace
                                : runner::Isolation::Overlay;
}

Result<void> checkCommand(const std::vector<std::string>& command, const fs::path& folder,
                          const std::vector<std::string>& environment)
{
    const auto problems = runner::checkLaunch({command, folder, environment});
    if (problems.empty())
        return {};
    return tl::unexpected(
        Error{problems.front().code, problems.front().what.text, problems.front().where, problems.front().hint});
}

Result<fs::path> logFolder(const ExperimentOptions& options)
{
    if (options.logs.empty()) {
        std::string pattern = (fs::temp_directory_path() / "stepscope-experiment-XXXXXX").string();
        if (!::mkdtemp(pattern.data()))
            return tl::unexpected(Error{Error::Code::Io,
                                        std::string("No folder for logs can be made: ") + std::strerror(errno), pattern,
                                        "name one with --logs"});
        return pattern;
    }
    std::error_code failed;
    fs::create_directories(options.logs, failed);
    if (failed)
        return tl::unexpected(Error{Error::Code::Io, "The folder for logs cannot be made: " + failed.message(),
                                    options.logs.string(), "choose another with --logs"});
    return fs::absolute(options.logs);
}

Result<std::string> readText(const fs::path& path)
{
    std::ifstream file(path, std::ios::binary);
    std::string text((std::istreambuf_iterator<char>(file)), {});
    if (!file)
        return tl::unexpected(Error{Error::Code::NotFound, "The file cannot be read", path.string(), "check its path"});
    return text;
}

/// The interpreter that the command names, whose grammar is the program's; else the usual one.
std::string pythonOf(const std::vector<std::string>& command)
{
    return fs::path(command.front()).filename().string().starts_with("python") ? command.front() : "python3";
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

/// Arm B, as --set says: from what a recording of the program tells of its objects.
Result<void> addSettings(const ExperimentOptions& options, Measured& measured)
{
    if (options.trace.empty())
        return profiler::fail<"experiment.program.no_recording",
                              "--set needs a recording, which tells where the program makes its settings">(
            Error::Code::Invalid, "--trace",
            "record the program (stepscope-cli record -o run.sstrace -- COMMAND) and add --trace run.sstrace");
    const auto wanted = wantedChanges(options.assignments);
    if (!wanted)
        return tl::unexpected(wanted.error());
    const auto trace = openTrace(options.trace);
    if (!trace)
        return tl::unexpected(trace.error());
    ProgramSetup& setup = measured.plan.setup;
    auto patch =
        change::patchProgram(**trace, *wanted, {.python = pythonOf(options.command), .command = options.command});
    if (!patch)
        return tl::unexpected(patch.error());
    for (const change::ChangeResult& change : patch->changes) {
        if (!change.measurable)
            return tl::unexpected(Error{
                Error::Code::Unsupported,
                !change.whyNot.empty()
                    ? change.whyNot
                    : message<"experiment.program.not_in_steps", "This change does not act on the time of a step, "
                                                                 "which is what an experiment with a program "
                                                                 "measures">(),
                change.key + "=" + change.to, "see stepscope-cli patch for what can be done"});
        measured.plan.changes.push_back({change.key, change.from.value_or(""), change.to});
    }
    for (const change::PatchedFile& file : patch->files) {
        const auto now = readText(file.path);
        if (!now || *now != file.before)
            return profiler::fail<"experiment.program.file_changed", "A file has changed since the recording">(
                Error::Code::Invalid, file.path.string(), "record the program again");
        setup.arms[1].files.push_back({file.path, file.after});
    }
    if (!patch->command.empty())
        setup.arms[1].command = patch->command;
    if (!patch->hooks.empty())
        setup.arms[1].hookChanges = nlohmann::json(patch->hooks).dump();
    measured.patch = {std::string(change::howName(patch->changes.front().how)), std::move(patch->diff),
                      std::move(patch->command)};
    return {};
}

/// Arm B, as --set, --patch or --against say.
Result<void> addChange(const ExperimentOptions& options, Measured& measured)
{
    ProgramSetup& setup = measured.plan.setup;
    setup.arms[1] = setup.arms[0];
    if (!options.assignments.empty())
        return addSettings(options, measured);
    if (!options.patch.empty()) {
        auto diff = readText(options.patch);
        if (!diff)
            return tl::unexpected(diff.error());
        auto files = runner::applyDiff(*diff, setup.folder);
        if (!files)
            return tl::unexpected(files.error());
        setup.arms[1].files = std::move(*files);
        measured.patch = {"source", std::move(*diff), {}};
    }
    if (!options.against.empty()) {
        auto words = runner::shellWords(options.against);
        if (words && words->empty())
            words = tl::unexpected(Error{Error::Code::Invalid, "The command of --against is empty", {}, {}});
        if (!words)
            return tl::unexpected(words.error());
        if (const auto checked = checkCommand(*words, setup.folder, options.environment); !checked)
            return checked;
        setup.arms[1].command = *words;
        measured.patch = {"argument", {}, std::move(*words)};
    }
    return {};
}

Result<Measured> measuredBy(const ExperimentOptions& options)
{
    Measured measured;
    ProgramPlan& plan = measured.plan;
    std::error_code failed;
    plan.setup.folder = fs::current_path(failed);
    if (failed)
        return tl::unexpected(Error{Error::Code::NotFound, "The working directory is gone", {}, "enter another one"});
    if (const auto checked = checkCommand(options.command, plan.setup.folder, options.environment); !checked)
        return tl::unexpected(checked.error());
    plan.setup.arms[0].command = options.command;
    plan.setup.environment = options.environment;
    plan.setup.isolation = isolationOf(options.isolation);
    plan.setup.terminal = options.terminal;
    plan.setup.seeds = options.seeds;
    plan.setup.startPatience = std::chrono::seconds(options.patienceSeconds);
    plan.budget = std::chrono::seconds(options.budgetSeconds);
    plan.turn = std::chrono::milliseconds(options.turnMilliseconds);
    if (plan.setup.isolation == runner::Isolation::Overlay)
        if (const auto possible = runner::checkPrivateViews(); !possible)
            return tl::unexpected(possible.error());
    const auto hooks = runner::findPythonHooks();
    if (!hooks)
        return tl::unexpected(hooks.error());
    plan.setup.hooks = *hooks;
    if (const auto changed = addChange(options, measured); !changed)
        return tl::unexpected(changed.error());
    auto logs = logFolder(options);
    if (!logs)
        return tl::unexpected(logs.error());
    plan.setup.logs = std::move(*logs);
    return measured;
}

void print(const Measured& measured, const ProgramResult& result, std::ostream& out)
{
    const ProgramSetup& setup = measured.plan.setup;
    out << "A: " << runner::commandLine(setup.arms[0].command) << '\n';
    if (setup.arms[1].command != setup.arms[0].command)
        out << "B: " << runner::commandLine(setup.arms[1].command) << '\n';
    for (const runner::ReplacedFile& file : setup.arms[1].files)
        out << "B: " << file.path.string() << " changed\n";
    if (measured.patch.how.empty())
        out << "B: the same\n";
    if (result.isRefused) {
        out << fmt::format("{}: {}\n", verdictName(result), result.measured.whyText());
        for (const std::string& line : result.program.failure->traceback)
            out << "    " << line << '\n';
    } else {
        printResult(result.measured, out);
    }
    out << fmt::format("isolation: {}; what the arms printed is in {}\n", runner::isolationName(setup.isolation),
                       setup.logs.string());
}

} // namespace

int programExperiment(const ExperimentOptions& options, const Streams& streams)
{
    auto measured = measuredBy(options);
    if (!measured) {
        streams.err << measured.error().message() << '\n';
        return kBadInput;
    }
    catchInterrupts();
    std::stop_source stop;
    const InterruptWatch watch(stop);
    const auto follow = [&](const ExperimentProgress& progress) { printProgress(progress, streams.err); };
    const auto result = runProgramExperiment(measured->plan, follow, stop.get_token());
    if (!result) {
        streams.err << result.error().message() << '\n';
        const bool isStopped = result.error().code == Error::Code::Cancelled;
        if (!isStopped)
            streams.err << "What the arms printed is in " << measured->plan.setup.logs.string() << '\n';
        return isStopped ? kInterrupted : kBadInput;
    }
    if (options.json)
        streams.out << jsonText(toJson(measured->plan, measured->patch, *result)) << '\n';
    else
        print(*measured, *result, streams.out);
    return kDone;
}

} // namespace advisor::cli
