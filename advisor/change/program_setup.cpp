#include "advisor/change/program_setup.h"

#include "advisor/evidence/program_facts.h"
#include "advisor/evidence/run_facts.h"
#include "advisor/knob_changes.h"
#include "advisor/runner/launch_check.h"
#include "advisor/runner/program_recording.h"
#include "advisor/runner/shell_words.h"
#include "advisor/runner/unified_diff.h"
#include "profiler/os/files.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

namespace advisor::change {

namespace fs = std::filesystem;
using profiler::Error;
using profiler::Result;
using Words = std::vector<std::string>;

namespace {

Result<void> checkCommand(const ProgramSetup& setup, const Words& command)
{
    const auto problems = runner::checkLaunch({command, setup.folder, setup.environment});
    if (problems.empty())
        return {};
    const runner::LaunchProblem& first = problems.front();
    return tl::unexpected(Error{first.code, first.what, first.where, first.hint});
}

bool isFileUnchanged(const PatchedFile& file)
{
    std::ifstream stream(file.path, std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(stream)), {});
    return stream && text == file.before;
}

fs::path resolved(const fs::path& path)
{
    std::error_code failed;
    const fs::path canonical = fs::weakly_canonical(path, failed);
    return failed ? path.lexically_normal() : canonical;
}

/// The command without a leading `env` and its assignments.
Words withoutEnvironment(const Words& command)
{
    std::size_t first = 0;
    if (!command.empty() && fs::path(command.front()).filename() == "env")
        for (first = 1; first < command.size() && command[first].find('=') != std::string::npos;)
            ++first;
    return {command.begin() + static_cast<std::ptrdiff_t>(first), command.end()};
}

/// The words that identify the program: its name, full paths of scripts, and modules. Arguments are excluded.
Words namingWords(const Words& command, const fs::path& folder)
{
    const Words words = withoutEnvironment(command);
    Words naming;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string extension = fs::path(words[i]).extension().string();
        if (i > 0 && words[i - 1] == "-m")
            naming.push_back("-m " + words[i]);
        else if (extension == ".py" || extension == ".sh")
            naming.push_back(resolved(folder / words[i]).string());
        else if (i == 0)
            naming.push_back(fs::path(words[i]).filename().string());
    }
    return naming;
}

/// True if the command names the recorded script or module, or is the console script that was recorded.
bool namesProgram(const Words& naming, const ProgramFacts& facts)
{
    const auto names = [&](const std::string& word) {
        return std::find(naming.begin(), naming.end(), word) != naming.end();
    };
    if (!facts.module.empty() && names("-m " + facts.module))
        return true;
    return !facts.script.empty() &&
           (names(resolved(facts.script).string()) || naming.front() == fs::path(facts.script).filename().string());
}

/// Description of the recorded program: "python train.py".
std::string recordedProgram(const profiler::Trace& trace, const ProgramFacts& facts)
{
    if (const std::string_view command = metadata(trace, "record.command"); !command.empty())
        return std::string(command);
    return facts.module.empty() ? facts.script : "-m " + facts.module;
}

bool isMeasured(SavingUnit unit, const std::vector<Toggle>& changes)
{
    const bool isMemory = objectiveOf(changes) == Objective::Memory;
    const std::string measure = measureOf(changes);
    switch (unit) {
    case SavingUnit::Bytes:
        return isMemory;
    case SavingUnit::UsPerEpoch:
        return !isMemory && measure == "epoch";
    case SavingUnit::UsPerValidation:
        return !isMemory && measure == "validation";
    case SavingUnit::UsPerStep:
        break;
    }
    return !isMemory && measure == "steps";
}

/// The saving of the finding that proposes the change, if the experiment measures it.
std::optional<Saving> predictedFor(const std::vector<Toggle>& changes, const std::vector<RuleAdvice>& advice)
{
    if (changes.size() != 1)
        return std::nullopt;
    for (const RuleAdvice& row : advice) {
        const auto& proposed = row.advice.proposed;
        if (row.advice.state == State::Fires && proposed && proposed->key == changes.front().key &&
            proposed->to == changes.front().to && row.advice.saving && isMeasured(row.advice.saving->unit, changes))
            return row.advice.saving;
    }
    return std::nullopt;
}

Error notMeasured(const ChangeResult& change)
{
    return {Error::Code::Unsupported, change.whyNot, change.key + "=" + change.to,
            "run stepscope-cli patch to see the options"};
}

} // namespace

Result<void> prepareProgram(ProgramSetup& setup)
{
    if (auto checked = checkCommand(setup, setup.arms[0].command); !checked)
        return checked;
    if (setup.isolation == runner::Isolation::Overlay)
        if (auto possible = runner::checkPrivateViews(); !possible)
            return possible;
    auto hooks = runner::findPythonHooks();
    if (!hooks)
        return tl::unexpected(hooks.error());
    setup.hooks = std::move(*hooks);
    setup.arms[1] = setup.arms[0];
    return {};
}

void closeLogs(const ProgramSetup& setup, Error* error)
{
    if (error && error->code != Error::Code::Cancelled) {
        error->hint +=
            (error->hint.empty() ? "" : "; ") + std::string("the program's output is in ") + setup.logs.string();
        return;
    }
    std::error_code ignored;
    fs::remove_all(setup.logs, ignored);
}

Result<void> recordVariant(const ProgramSetup& setup, const ProgramVariant& variant, const fs::path& trace,
                           const std::stop_token& stop)
{
    runner::RecordingPlan plan;
    plan.command = variant.command;
    plan.folder = setup.folder;
    plan.environment = setup.environment;
    plan.isolation = setup.isolation;
    plan.files = variant.files;
    plan.hookChanges = variant.hookChanges;
    plan.terminal = setup.terminal;
    plan.log = setup.logs / "recording.log";
    plan.startPatience = setup.startPatience;
    return runner::recordProgram(plan, trace, stop);
}

Result<void> makeLogFolder(ProgramSetup& setup)
{
    const auto failed = [](const fs::path& folder, const std::string& why) {
        return profiler::fail<"experiment.program.no_logs", "The folder for logs could not be created: {why}">(
            Error::Code::Io, folder.string(), "choose another folder with --logs", {{"why", why}});
    };
    if (setup.logs.empty()) {
        const fs::path prefix = profiler::os::temporaryPath("stepscope-experiment-");
        auto folder = profiler::os::createTemporaryFolder(prefix);
        if (!folder)
            return failed(prefix, std::strerror(errno));
        setup.logs = std::move(*folder);
        return {};
    }
    std::error_code problem;
    fs::create_directories(setup.logs, problem);
    if (problem)
        return failed(setup.logs, problem.message());
    setup.logs = fs::absolute(setup.logs);
    return {};
}

std::string interpreterOf(const std::vector<std::string>& command)
{
    const Words words = withoutEnvironment(command);
    const bool isPython = !words.empty() && fs::path(words.front()).filename().string().starts_with("python");
    return isPython ? words.front() : "python3";
}

Result<void> checkRecordingOf(const profiler::Trace& trace, const std::vector<std::string>& command,
                              const fs::path& folder)
{
    const auto facts = programOf(trace).facts;
    if (!facts)
        return {};
    fs::path recordedFolder = metadata(trace, "record.directory");
    if (recordedFolder.empty())
        recordedFolder = facts->workingDirectory;
    if (!recordedFolder.empty() && resolved(recordedFolder) != resolved(folder))
        return profiler::fail<"experiment.program.other_folder",
                              "The recorded program ran in another folder, {folder}">(
            Error::Code::Invalid, folder.string(), "run the command in that folder, or record it in this one",
            {{"folder", recordedFolder.string()}});
    const Words naming = namingWords(command, folder);
    if (naming.empty() || (facts->script.empty() && facts->module.empty()) || namesProgram(naming, *facts))
        return {};
    const auto recorded = runner::shellWords(metadata(trace, "record.command"));
    if (recorded && namingWords(*recorded, folder) == naming)
        return {};
    return profiler::fail<"experiment.program.other_program", "The trace was recorded from another program: {program}">(
        Error::Code::Invalid, runner::commandLine(command),
        "record this command, or specify its recording with --trace", {{"program", recordedProgram(trace, *facts)}});
}

Result<ProgramPatch> setVariant(ProgramVariant& variant, const profiler::Trace& trace,
                                const std::vector<WantedChange>& changes, PatcherOptions options)
{
    options.command = variant.command;
    auto patch = patchProgram(trace, changes, options);
    if (!patch)
        return patch;
    for (const PatchedFile& file : patch->files) {
        // For a file with applied changes, the patcher has already checked the rest of its contents.
        const bool isApplied = std::ranges::find(patch->appliedFiles, file.path) != patch->appliedFiles.end();
        if (!isApplied && !isFileUnchanged(file))
            return profiler::fail<"experiment.program.file_changed", "A file has changed since the recording">(
                Error::Code::Invalid, file.path.string(), "record the program again");
        variant.files.push_back({file.path, file.after});
    }
    if (!patch->command.empty())
        variant.command = patch->command;
    if (!patch->hooks.empty())
        variant.hookChanges = nlohmann::json(patch->hooks).dump();
    return patch;
}

Result<void> setChanges(ProgramPlan& plan, const profiler::Trace& trace, const ChangeRequest& request)
{
    ProgramSetup& setup = plan.setup;
    if (auto same = checkRecordingOf(trace, setup.arms[0].command, setup.folder); !same)
        return same;
    PatcherOptions options = request.patcher;
    if (options.python == PatcherOptions().python)
        options.python = interpreterOf(setup.arms[0].command);
    // A new change of a kept setting replaces it.
    const auto find = [](const std::vector<WantedChange>& among, const std::string& key) {
        return std::find_if(among.begin(), among.end(), [&](const WantedChange& one) { return one.key == key; });
    };
    std::vector<WantedChange> all = request.kept;
    std::erase_if(all,
                  [&](const WantedChange& kept) { return find(request.changes, kept.key) != request.changes.end(); });
    const std::size_t first = all.size();
    all.insert(all.end(), request.changes.begin(), request.changes.end());
    ProgramVariant changed = setup.arms[0];
    auto patch = setVariant(changed, trace, all, options);
    if (!patch)
        return tl::unexpected(patch.error());
    std::vector<Toggle> toggles;
    for (std::size_t i = first; i < patch->changes.size(); ++i) {
        const ChangeResult& change = patch->changes[i];
        if (!change.measurable)
            return tl::unexpected(notMeasured(change));
        const auto kept = find(request.kept, change.key);
        toggles.push_back({change.key, kept != request.kept.end() ? kept->to : change.from.value_or(""), change.to});
    }
    if (!request.kept.empty())
        if (const auto kept = setVariant(setup.arms[0], trace, request.kept, options); !kept)
            return tl::unexpected(kept.error());
    setup.arms[1] = std::move(changed);
    plan.patch = {std::string(howName(patch->changes.back().how)), std::move(patch->diff), std::move(patch->command)};
    plan.predicted = predictedFor(toggles, request.advice ? *request.advice : advise(trace, nullptr));
    plan.measure = measureOf(toggles);
    plan.changes = std::move(toggles);
    return {};
}

Result<void> setDiff(ProgramPlan& plan, std::string diff)
{
    auto files = runner::applyDiff(diff, plan.setup.folder);
    if (!files)
        return tl::unexpected(files.error());
    plan.setup.arms[1].files = std::move(*files);
    plan.patch = {"source", std::move(diff), {}};
    return {};
}

Result<void> setCommand(ProgramPlan& plan, const std::string& line)
{
    auto words = runner::shellWords(line);
    if (words && words->empty())
        return profiler::fail<"experiment.program.empty_command", "The other command is empty">(
            Error::Code::Invalid, {}, "enter the whole command, in quotes");
    if (!words)
        return tl::unexpected(words.error());
    if (auto checked = checkCommand(plan.setup, *words); !checked)
        return checked;
    plan.setup.arms[1].command = *words;
    plan.patch = {"argument", {}, std::move(*words)};
    return {};
}

void setMeasure(ProgramPlan& plan, const std::string& measure)
{
    if (plan.predicted && (plan.measure != measure || plan.predicted->unit == SavingUnit::Bytes))
        plan.predicted.reset();
    plan.measure = measure;
    plan.isTimeChosen = true;
}

} // namespace advisor::change
