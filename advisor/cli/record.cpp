#include "advisor/cli/commands.h"
#include "advisor/cli/open_trace.h"
#include "advisor/cli/record_report.h"
#include "advisor/cli/recorded_process.h"
#include "advisor/runner/launch_check.h"
#include "advisor/runner/python_hooks.h"
#include "advisor/runner/shell_words.h"
#include "profiler/capture/collect_parts.h"
#include "profiler/capture/injection/variables.h"
#include "profiler/capture/part_recording.h"
#include "profiler/capture/system_sampler.h"
#include "profiler/os/file_lock.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fmt/format.h>
#include <fstream>
#include <optional>
#include <set>
#include <system_error>
#include <unistd.h>

namespace advisor::cli {

namespace {

namespace capture = profiler::capture;
namespace fs = std::filesystem;
using profiler::Error;
using profiler::makeError;
using profiler::Message;
using profiler::message;
using profiler::Result;

// Workers and servers that outlive the command have this long to end their traces.
constexpr auto kWaitForOthers = std::chrono::seconds(5);

/// The folder must be there and writable before the command runs, not after an hour of it.
Result<fs::path> checkedOutput(const fs::path& wanted)
{
    std::error_code ignored;
    const auto path = fs::absolute(wanted, ignored);
    if (path.empty())
        return fail<"record.output.no_name", "the output has no name">(Error::Code::Invalid, {}, "give a file's name");
    if (fs::is_directory(path, ignored))
        return fail<"record.output.folder", "the output is a folder">(Error::Code::Invalid, path.string(),
                                                                      "give a file's name");
    if (!fs::is_directory(path.parent_path(), ignored))
        return fail<"record.output.missing", "the output's folder is missing">(
            Error::Code::NotFound, path.parent_path().string(), "make it first, or choose one that exists");
    if (access(path.parent_path().c_str(), W_OK) != 0)
        return fail<"record.output.permission", "the output's folder is not writable">(
            Error::Code::Permission, path.parent_path().string(), "choose one that you may write to");
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

/// Where the command's processes write what cannot be recorded of them.
fs::path notesFile(const fs::path& trace)
{
    return trace.string() + ".notes";
}

Result<Variables> variablesFor(const RecordOptions& options, const fs::path& trace, const profiler::TimeRange& window)
{
    namespace variable = capture::variable;
    const auto library = runner::findBeside(
        {"../lib/libstepscope_inject.so", "../lib/stepscope/libstepscope_inject.so"}, "the injection library");
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
    if (const auto hooks = runner::findPythonHooks()) {
        runner::EnvironmentVariables environment = runner::currentEnvironment();
        runner::addHooks(environment, *hooks);
        for (const char* name : {"PYTHONPATH", "LD_PRELOAD", variable::kPython})
            if (const auto found = environment.find(name); found != environment.end())
                variables.emplace_back(*found);
        variables.emplace_back(variable::kNotes, notesFile(trace).string());
    }
    return variables;
}

/// The variables of --env, in force from here on: PATH among them decides where the command is found.
void setEnvironment(const std::vector<std::string>& assignments)
{
    for (const std::string& assignment : assignments) {
        const std::size_t equals = assignment.find('=');
        setenv(assignment.substr(0, equals).c_str(), assignment.substr(equals + 1).c_str(), 1);
    }
}

/// What the command's processes have to say about themselves: each line once.
std::vector<Message> takeNotes(const fs::path& trace)
{
    const fs::path path = notesFile(trace);
    std::vector<Message> notes;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        Message note = profiler::messageOfLine(line);
        if (note.id.empty())
            note = message<"record.said", "{note}">({{"note", line}});
        if (!line.empty() && std::find(notes.begin(), notes.end(), note) == notes.end())
            notes.push_back(note);
    }
    std::error_code ignored;
    fs::remove(path, ignored);
    return notes;
}

/// Samples of the machine and of the command's first process: taken here, so that they cost the command nothing.
class MachineSamples {
public:
    void start(const fs::path& trace, pid_t command, const profiler::TimeRange& window)
    {
        auto part = capture::startPart(trace, {.path = {}, .ringEvents = 1 << 12, .maxThreads = 4});
        if (!part) { // the command's own parts will meet the same trouble
            m_trouble = part.error();
            return;
        }
        m_part = part->path;
        m_recorder = std::move(part->recorder);
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
    /// The file that holds the samples; empty without them.
    [[nodiscard]] const fs::path& part() const { return m_part; }
    /// Why nothing can be written beside the trace, where that is so.
    [[nodiscard]] const std::optional<Error>& trouble() const { return m_trouble; }

private:
    std::optional<Error> m_trouble;
    fs::path m_part;
    std::unique_ptr<capture::Recorder> m_recorder;
    std::unique_ptr<capture::SystemSampler> m_sampler;
};

/// Parts that this recording made: those of an earlier one that was killed stay what they are. The machine's samples
/// come last: what they say of GPUs is numbered by the others.
std::vector<capture::TracePart> newParts(const fs::path& trace, const std::set<fs::path>& before,
                                         const fs::path& machine)
{
    auto parts = capture::findParts(trace);
    std::erase_if(parts, [&](const capture::TracePart& part) { return before.contains(part.path); });
    std::stable_partition(parts.begin(), parts.end(), [&](const auto& part) { return part.path != machine; });
    return parts;
}

/// @param trouble  that this process itself met in writing beside the trace: the command's processes met it too
/// @param said  by the command's processes
Error nothingRecorded(const RecordOptions& options, const std::optional<Error>& trouble,
                      const std::vector<Message>& said)
{
    if (!said.empty())
        return makeError<"record.nothing.said", "nothing was recorded: {why}">(Error::Code::NotFound, {}, {},
                                                                               {{"why", said.front().text}});
    if (trouble)
        return {trouble->code,
                message<"record.nothing.unwritten",
                        "nothing was recorded, since no part of the trace could be written: {why}">(
                    {{"why", trouble->what.text}, {"error", trouble->what.id}}),
                trouble->where, trouble->hint};
    if (options.after > 0)
        return makeError<"record.nothing.after", "nothing was recorded after {after}">(
            Error::Code::NotFound, {},
            "begin earlier: the command had ended by then, or did no more with CUDA, NVTX or Python",
            {{"after", options.after * 1e6, fmt::format("{} s", options.after)}});
    if (!options.python)
        return makeError<"record.nothing.no_python",
                         "nothing was recorded: the command and its children used neither CUDA nor NVTX, and "
                         "--no-python leaves out what a Python does">(
            Error::Code::NotFound, {},
            "Record a Python without --no-python; a statically linked program cannot be recorded");
    return makeError<"record.nothing.used", "nothing was recorded: the command and its children used neither CUDA nor "
                                            "NVTX, nor a Python that loads our module">(
        Error::Code::NotFound, {},
        "Record a program that does, unless a process said above why it is not recorded; a Python must not run with "
        "-I, -E or -S, and a statically linked program cannot be recorded");
}

RecordReport failed(Error error, std::optional<CommandEnd> end = {})
{
    return {end, {}, std::move(error)};
}

/// The directory in which the command ran: the same command in another directory is another program.
std::string workingDirectory()
{
    std::error_code gone;
    return fs::current_path(gone).string();
}

/// Makes the trace of what the command's processes have left.
RecordReport collected(const RecordOptions& options, const fs::path& trace, const std::set<fs::path>& before,
                       const CommandEnd& end, const MachineSamples& samples)
{
    const auto isMachine = [&](const capture::TracePart& part) { return part.path == samples.part(); };
    std::vector<fs::path> written;
    for (const auto& part : newParts(trace, before, samples.part()))
        written.push_back(part.path);
    const std::vector<fs::path> running = waitForWriters(std::move(written), kWaitForOthers);
    const std::vector<Message> said = takeNotes(trace);
    const auto parts = newParts(trace, before, samples.part());
    if (parts.empty() || isMachine(parts.front())) {
        capture::removeParts(parts);
        return failed(nothingRecorded(options, samples.trouble(), said), end);
    }
    std::vector<std::pair<std::string, std::string>> metadata = {
        {"record.command", runner::commandLine(options.command)},
        {"record.directory", workingDirectory()},
        {"record.exit_status", std::to_string(end.shellStatus())},
        {"capture.level", options.level}};
    for (auto& fact : profiler::recordingEndMetadata(end.recordingEnd()))
        metadata.push_back(std::move(fact));
    auto collected =
        capture::collectParts(parts, {.trace = trace, .mainProcess = end.pid, .metadata = metadata, .notes = said});
    if (!collected) {
        Error error = collected.error();
        error.hint += (error.hint.empty() ? "" : "; ") + std::string("what each process recorded is in ") +
                      parts.front().path.string() + (parts.size() > 1 ? " and its like" : "");
        return failed(std::move(error), end);
    }
    for (const auto& part : parts)
        if (std::find(running.begin(), running.end(), part.path) != running.end())
            collected->notes.push_back(
                message<"record.part.still_runs", "process {process} still runs; its trace so far is taken">(
                    {{"process", part.pid}}));
    capture::removeParts(parts);
    collected->processes -= isMachine(parts.back()) ? 1 : 0;
    return {end, std::move(*collected), {}};
}

/// Locks the trace, so that two recordings cannot mix their parts in one file.
Result<std::optional<profiler::os::LockFile>> lockTrace(const fs::path& trace)
{
    auto lock = profiler::os::LockFile::acquire(trace.string() + ".lock");
    if (!lock && errno == EAGAIN)
        return fail<"record.output.busy", "another recording is writing this trace">(
            Error::Code::Unavailable, trace.string(), "give this one another name, or wait for the other's end");
    return lock; // on a file system without locks, recording goes on without one
}

/// The first thing that would keep the command from running.
std::optional<Error> launchProblem(const RecordOptions& options)
{
    std::error_code ignored;
    const auto problems = runner::checkLaunch({options.command, fs::current_path(ignored), options.environment});
    if (problems.empty())
        return std::nullopt;
    return Error{problems.front().code, problems.front().what, problems.front().where, problems.front().hint};
}

/// "train" of `python train.py` and `torchrun -m pkg.train`.
std::string traceName(const std::vector<std::string>& command)
{
    const std::string name = runner::programName(command);
    const auto word = std::find(command.begin(), command.end(), name);
    const bool isModule = word != command.begin() && word != command.end() && *std::prev(word) == "-m";
    if (isModule)
        return name.substr(name.rfind('.') + 1);
    return name.empty() ? "recording" : fs::path(name).stem().string();
}

/// In the working directory: train.sstrace, or train-2.sstrace where there is one already.
fs::path freeName(const std::vector<std::string>& command)
{
    const std::string name = traceName(command);
    std::error_code ignored;
    fs::path path = name + ".sstrace";
    for (int number = 2; fs::exists(path, ignored) || fs::exists(path.string() + ".lock", ignored); ++number)
        path = fmt::format("{}-{}.sstrace", name, number);
    return path;
}

RecordReport recorded(const RecordOptions& options)
{
    const auto trace = checkedOutput(options.trace);
    if (!trace)
        return failed(trace.error());
    if (auto problem = launchProblem(options))
        return failed(std::move(*problem));
    const auto lock = lockTrace(*trace);
    if (!lock)
        return failed(lock.error());
    setEnvironment(options.environment);
    takeNotes(*trace); // of an earlier recording that was killed
    const profiler::TimeRange window = windowOf(options);
    const auto variables = variablesFor(options, *trace, window);
    if (!variables)
        return failed(variables.error());
    std::set<fs::path> before;
    for (const auto& part : capture::findParts(*trace))
        before.insert(part.path);
    MachineSamples samples;
    const auto end =
        runCommand(options.command, *variables, [&](pid_t command) { samples.start(*trace, command, window); });
    if (!end)
        return failed(end.error());
    samples.end();
    return collected(options, *trace, before, *end, samples);
}

} // namespace

int record(const RecordOptions& wanted, const Streams& streams)
{
    RecordOptions options = wanted;
    if (options.trace.empty() && !options.command.empty())
        options.trace = freeName(options.command);
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
