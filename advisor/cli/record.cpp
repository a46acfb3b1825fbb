#include "advisor/cli/commands.h"
#include "advisor/cli/open_trace.h"
#include "advisor/cli/record_report.h"
#include "advisor/cli/recorded_process.h"
#include "profiler/capture/collect_parts.h"
#include "profiler/capture/injection/variables.h"
#include "profiler/capture/system_sampler.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fmt/format.h>
#include <optional>
#include <set>
#include <system_error>
#include <unistd.h>

namespace advisor::cli {

namespace {

namespace capture = profiler::capture;
namespace fs = std::filesystem;
using profiler::Error;
using profiler::Result;

// Workers and servers that outlive the command have this long to end their traces.
constexpr auto kWaitForOthers = std::chrono::seconds(5);

fs::path programFolder()
{
    std::error_code failed;
    const auto program = fs::read_symlink("/proc/self/exe", failed);
    return failed ? fs::path() : program.parent_path();
}

/// What lies beside the program, in a build as installed.
Result<fs::path> findBeside(std::initializer_list<const char*> places, std::string_view what)
{
    for (const char* place : places)
        if (const auto path = (programFolder() / place).lexically_normal(); fs::exists(path))
            return path;
    return tl::unexpected(
        Error{Error::Code::NotFound, std::string(what) + " is missing", programFolder().string(),
              "install Stepscope again, or build the target stepscope_inject (it needs CUDA's headers)"});
}

/// The folder must be there and writable before the command runs, not after an hour of it.
Result<fs::path> checkedOutput(const fs::path& wanted)
{
    std::error_code ignored;
    const auto path = fs::absolute(wanted, ignored);
    if (path.empty())
        return tl::unexpected(Error{Error::Code::Invalid, "the output has no name", {}, "give a file's name"});
    if (fs::is_directory(path, ignored))
        return tl::unexpected(
            Error{Error::Code::Invalid, "the output is a folder", path.string(), "give a file's name"});
    if (!fs::is_directory(path.parent_path(), ignored))
        return tl::unexpected(Error{Error::Code::NotFound, "the output's folder is missing",
                                    path.parent_path().string(), "make it first, or choose one that exists"});
    if (access(path.parent_path().c_str(), W_OK) != 0)
        return tl::unexpected(Error{Error::Code::Permission, "the output's folder is not writable",
                                    path.parent_path().string(), "choose one that you may write to"});
    return path;
}

using Variables = std::vector<std::pair<std::string, std::string>>;

/// Of all processes of the recording, from the command's start. A limit far beyond any run.
profiler::TimeRange windowOf(const RecordOptions& options)
{
    const double kLongest = 1e9;
    const auto after = [kLongest](profiler::TraceTime time, double seconds) {
        return time +
               std::chrono::round<profiler::Nanoseconds>(std::chrono::duration<double>(std::min(seconds, kLongest)));
    };
    const profiler::TraceTime from = after(profiler::TraceClock::now(), options.after);
    return {from, after(from, options.seconds > 0 ? options.seconds : kLongest)};
}

Result<Variables> variablesFor(const RecordOptions& options, const fs::path& trace, const profiler::TimeRange& window)
{
    namespace variable = capture::variable;
    const auto library = findBeside({"../lib/libstepscope_inject.so", "../lib/stepscope/libstepscope_inject.so"},
                                    "the injection library");
    if (!library)
        return tl::unexpected(library.error());
    Variables variables{{variable::kTrace, trace.string()},
                        {variable::kLevel, options.level},
                        {variable::kOps, options.operators ? "1" : "0"},
                        {variable::kOpsEvery, options.opsEvery > 0 ? std::to_string(options.opsEvery) : ""},
                        {variable::kOpsWindow, options.opsEvery > 0 ? std::to_string(options.opsWindow) : ""},
                        {variable::kLibrary, library->string()},
                        {"NVTX_INJECTION64_PATH", library->string()},
                        {"CUDA_INJECTION64_PATH", library->string()}};
    // Whatever a recording around this one has set is not ours.
    const auto timeOr = [](bool wanted, profiler::TraceTime time) {
        return wanted ? std::to_string(profiler::toNs(time)) : std::string();
    };
    variables.emplace_back(variable::kFrom, timeOr(options.after > 0, window.begin));
    variables.emplace_back(variable::kUntil, timeOr(options.seconds > 0, window.end));
    if (!options.python)
        return variables;
    // Python is only one of the programs that can be recorded: without its module the others still are.
    if (const auto python = findBeside({"../share/stepscope/python/startup"}, "the Python module")) {
        const char* before = std::getenv("PYTHONPATH");
        variables.emplace_back("PYTHONPATH", before && *before ? python->string() + ":" + before : python->string());
    }
    return variables;
}

/// As a shell would read it.
std::string quoted(const std::string& argument)
{
    constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789%+,-./:=@_";
    if (!argument.empty() && argument.find_first_not_of(kPlain) == std::string::npos)
        return argument;
    std::string text = "'";
    for (const char letter : argument)
        text += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
    return text + "'";
}

std::string commandLine(const std::vector<std::string>& command)
{
    std::string line;
    for (const std::string& argument : command)
        line += (line.empty() ? "" : " ") + quoted(argument);
    return line;
}

/// Samples of the machine and of the command's first process: taken here, so that they cost the command nothing.
class MachineSamples {
public:
    void start(const fs::path& part, pid_t command, const profiler::TimeRange& window)
    {
        auto recorder = capture::Recorder::start({.path = part, .ringEvents = 1 << 12, .maxThreads = 4});
        if (!recorder) { // the command's own parts will meet the same trouble
            m_trouble = recorder.error();
            return;
        }
        m_recorder = std::move(*recorder);
        m_recorder->nameProcess("machine");
        m_sampler = capture::SystemSampler::start(*m_recorder, {.process = command, .within = window});
    }
    void end()
    {
        m_sampler.reset();
        if (m_recorder)
            if (const auto finished = m_recorder->finish(); !finished)
                m_trouble = finished.error();
        m_recorder.reset();
    }
    /// Why nothing can be written beside the trace, where that is so.
    [[nodiscard]] const std::optional<Error>& trouble() const { return m_trouble; }

private:
    std::optional<Error> m_trouble;
    std::unique_ptr<capture::Recorder> m_recorder;
    std::unique_ptr<capture::SystemSampler> m_sampler;
};

/// Parts that this recording made: those of an earlier one that was killed stay what they are. This process's own comes
/// last: what it says of GPUs is numbered by the others.
std::vector<capture::TracePart> newParts(const fs::path& trace, const std::set<fs::path>& before)
{
    auto parts = capture::findParts(trace);
    std::erase_if(parts, [&](const capture::TracePart& part) { return before.contains(part.path); });
    std::stable_partition(parts.begin(), parts.end(), [](const auto& part) { return part.pid != getpid(); });
    return parts;
}

/// @param trouble  that this process itself met in writing beside the trace: the command's processes met it too
Error nothingRecorded(const RecordOptions& options, const std::optional<Error>& trouble)
{
    if (trouble) {
        Error error = *trouble;
        error.what = "nothing was recorded, since no part of the trace could be written: " + error.what;
        return error;
    }
    if (options.after > 0)
        return {Error::Code::NotFound,
                fmt::format("nothing was recorded after {} s", options.after),
                {},
                "begin earlier: the command had ended by then, or did no more with CUDA, NVTX or Python"};
    if (!options.python)
        return {Error::Code::NotFound,
                "nothing was recorded: the command and its children used neither CUDA nor NVTX, and --no-python leaves "
                "out what a Python does",
                {},
                "Record a Python without --no-python; a statically linked program cannot be recorded"};
    return {Error::Code::NotFound,
            "nothing was recorded: the command and its children used neither CUDA nor NVTX, nor a Python that loads "
            "our module",
            {},
            "Record a program that does, unless a process said above why it is not recorded; a Python must not run "
            "with -I, -E or -S, and a statically linked program cannot be recorded"};
}

RecordReport failed(Error error, std::optional<CommandEnd> end = {})
{
    return {end, {}, std::move(error)};
}

/// Where the command ran: the same command elsewhere is another program.
std::string workingDirectory()
{
    std::error_code gone;
    return fs::current_path(gone).string();
}

/// Makes the trace of what the command's processes have left.
RecordReport collected(const RecordOptions& options, const fs::path& trace, const std::set<fs::path>& before,
                       const CommandEnd& end, const std::optional<Error>& trouble)
{
    std::vector<pid_t> writers;
    for (const auto& part : newParts(trace, before))
        if (part.pid != getpid())
            writers.push_back(static_cast<pid_t>(part.pid));
    const std::vector<pid_t> running = waitForOthers(writers, kWaitForOthers);
    const auto parts = newParts(trace, before);
    if (parts.empty() || parts.front().pid == getpid()) {
        capture::removeParts(parts);
        return failed(nothingRecorded(options, trouble), end);
    }
    auto collected =
        capture::collectParts(parts, {.trace = trace,
                                      .mainProcess = end.pid,
                                      .metadata = {{"record.command", commandLine(options.command)},
                                                   {"record.directory", workingDirectory()},
                                                   {"record.exit_status", std::to_string(end.shellStatus())},
                                                   {"capture.level", options.level}}});
    if (!collected) {
        Error error = collected.error();
        error.mend += (error.mend.empty() ? "" : "; ") + std::string("what each process recorded is in ") +
                      parts.front().path.string() + (parts.size() > 1 ? " and its like" : "");
        return failed(std::move(error), end);
    }
    for (const pid_t process : running)
        collected->notes.push_back(fmt::format("process {} still runs; its trace so far is taken", process));
    capture::removeParts(parts);
    collected->processes -= parts.back().pid == getpid() ? 1 : 0;
    return {end, std::move(*collected), {}};
}

RecordReport recorded(const RecordOptions& options)
{
    const auto trace = checkedOutput(options.trace);
    if (!trace)
        return failed(trace.error());
    const profiler::TimeRange window = windowOf(options);
    const auto variables = variablesFor(options, *trace, window);
    if (!variables)
        return failed(variables.error());
    std::set<fs::path> before;
    for (const auto& part : capture::findParts(*trace))
        before.insert(part.path);
    MachineSamples samples;
    const auto ownPart = fs::path(trace->string() + "." + std::to_string(getpid()));
    const auto end =
        runCommand(options.command, *variables, [&](pid_t command) { samples.start(ownPart, command, window); });
    if (!end)
        return failed(end.error());
    samples.end();
    return collected(options, *trace, before, *end, samples.trouble());
}

} // namespace

int record(const RecordOptions& options, const Streams& streams)
{
    if (const auto named = checkTraceName(options.trace, "record"); !named) {
        streams.err << named.error().message() << '\n';
        return kWrongUsage;
    }
    std::error_code none;
    if (!options.report.empty() &&
        fs::weakly_canonical(options.report, none) == fs::weakly_canonical(options.trace, none)) {
        streams.err << "the report would replace the trace (" << options.trace.string() << "): give it another name\n";
        return kWrongUsage;
    }
    return say(recorded(options), options, streams);
}

} // namespace advisor::cli
