#include "app/terminal/commands.h"

#include "advisor/runner/launch_check.h"
#include "advisor/runner/shell_words.h"
#include "advisor/runner/workspace.h"
#include "app/terminal/output.h"
#include "app/terminal/recorded_process.h"
#include "profiler/capture/injection/variables.h"
#include "profiler/model/number_text.h"
#include "profiler/monitor/recording_watch.h"
#include "profiler/os/files.h"

#include <cstdlib>
#include <fmt/format.h>
#include <fstream>
#include <system_error>

namespace app::terminal {

using namespace advisor;

namespace {

namespace fs = std::filesystem;
namespace monitor = profiler::monitor;
using profiler::Error;
using profiler::makeError;
using profiler::Result;

using Variables = std::vector<std::pair<std::string, std::string>>;

/// What a folder contains after the command has ended.
struct Recorded {
    fs::path folder;
    std::optional<CommandEnd> end;
    std::optional<Error> error;
    monitor::RecordingStatus status{};
};

/// The folder that the user named, or one with the name of the program: "train", "train-2".
fs::path folderFor(const RecordOptions& options)
{
    if (!options.trace.empty())
        return options.trace;
    const std::string program = runner::programName(options.command);
    const std::string name = program.empty() ? "recording" : fs::path(program).stem().string();
    std::error_code ignored;
    fs::path folder = name;
    for (int number = 2; fs::exists(folder, ignored); ++number)
        folder = fmt::format("{}-{}", name, number);
    return folder;
}

std::optional<Error> problem(const RecordOptions& options, const fs::path& folder)
{
    std::error_code failed;
    const auto problems = runner::checkLaunch({options.command, fs::current_path(failed), options.environment});
    if (!problems.empty())
        return Error{problems.front().code, problems.front().what, problems.front().where, problems.front().hint};
    fs::create_directories(folder, failed);
    if (failed || !fs::is_directory(folder, failed) || !profiler::os::canWrite(folder))
        return makeError<"record.always_on.folder", "the steps cannot be written to this folder">(
            Error::Code::Permission, folder.string(), "with --level steps, -o names a folder that you can write to");
    return std::nullopt;
}

Result<Variables> variablesFor(const RecordOptions& options, const fs::path& folder)
{
    namespace variable = profiler::capture::variable;
    const auto library = runner::findNearProgram(
        {"../lib/libstepscope_inject.so", "../lib/stepscope/libstepscope_inject.so"}, "the injection library");
    if (!library)
        return tl::unexpected(library.error());
    const auto hooks = runner::findPythonHooks();
    if (!hooks)
        return tl::unexpected(hooks.error());
    runner::EnvironmentVariables environment = runner::currentEnvironment();
    runner::addHooks(environment, *hooks);
    Variables variables{{variable::kAlwaysOn, folder.string()},
                        {variable::kCaptureSlow, options.captureSlow > 0 ? fmt::format("{}", options.captureSlow) : ""},
                        {variable::kLibrary, library->string()},
                        // Those of an enclosing recording do not apply to this one.
                        {variable::kTrace, ""},
                        {"NVTX_INJECTION64_PATH", ""},
                        {"CUDA_INJECTION64_PATH", ""}};
    for (const char* name : {"PYTHONPATH", "LD_PRELOAD", variable::kPython})
        if (const auto found = environment.find(name); found != environment.end())
            variables.emplace_back(*found);
    for (const std::string& assignment : options.environment) {
        const std::size_t equals = assignment.find('=');
        variables.emplace_back(assignment.substr(0, equals), assignment.substr(equals + 1));
    }
    return variables;
}

Recorded recorded(const RecordOptions& options, const fs::path& named)
{
    std::error_code ignored;
    Recorded result{.folder = named, .end = {}, .error = {}};
    const fs::path folder = fs::absolute(named, ignored);
    if (result.error = problem(options, folder); result.error)
        return result;
    const auto variables = variablesFor(options, folder);
    if (!variables) {
        result.error = variables.error();
        return result;
    }
    const auto end = runCommand(options.command, *variables, [](profiler::os::ProcessId) {});
    if (!end) {
        result.error = end.error();
        return result;
    }
    result.end = *end;
    if (auto status = monitor::RecordingWatch(folder).look())
        result.status = std::move(*status);
    if (result.status.ranks.empty())
        result.error = makeError<"record.always_on.nothing",
                                 "no step was recorded: the command and its children completed no training step in a "
                                 "Python that loads Stepscope's module">(
            Error::Code::NotFound, {},
            "steps are recorded where a PyTorch optimizer steps, or within stepscope.step(); do not run Python with "
            "-I, -E or -S");
    return result;
}

nlohmann::ordered_json jsonOf(const Recorded& result)
{
    nlohmann::ordered_json json{{"schema", 1}, {"folder", result.folder.string()}};
    auto& ranks = json["ranks"] = nlohmann::ordered_json::array();
    for (const monitor::RankStatus& rank : result.status.ranks)
        ranks.push_back({{"rank", rank.rank}, {"file", rank.file.filename().string()}, {"steps", rank.steps}});
    json["captures"] = result.status.captures.size();
    if (result.end) {
        json["exit_status"] = result.end->shellStatus();
        json["signal"] = result.end->signal;
        json["ended"] = result.end->text();
    }
    if (result.error)
        json["error"] = errorJson(*result.error);
    return json;
}

std::string textOf(const Recorded& result)
{
    constexpr const char* kName = "stepscope-cli record: ";
    const std::string ended = result.end ? " · the command " + result.end->text() : "";
    if (result.error)
        return kName + result.error->message() + ended + "\n";
    std::int64_t steps = 0;
    for (const monitor::RankStatus& rank : result.status.ranks)
        steps = std::max(steps, rank.steps);
    const std::size_t ranks = result.status.ranks.size();
    return fmt::format("{}{} · {} {}, {} steps{}\n{}to see them: stepscope-cli watch --once {}\n", kName,
                       result.folder.string(), ranks, ranks == 1 ? "rank" : "ranks", profiler::countText(steps), ended,
                       kName, runner::commandLine({result.folder.string()}));
}

} // namespace

int recordAlwaysOn(const RecordOptions& options, const Streams& streams)
{
    const Recorded result = recorded(options, folderFor(options));
    const int command = result.end ? result.end->shellStatus() : 0;
    const int status = command == 0 && result.error ? kBadInput : command;
    if (!options.report.empty()) {
        std::ofstream file(options.report, std::ios::trunc);
        file << jsonText(jsonOf(result), true) << '\n';
        file.close();
        if (file)
            return status;
        streams.err << "stepscope-cli record: the report could not be written: " << options.report.string() << '\n';
    }
    if (options.json && !result.error)
        streams.err << jsonText(jsonOf(result), true) << '\n';
    else
        streams.err << textOf(result);
    return status;
}

} // namespace app::terminal
