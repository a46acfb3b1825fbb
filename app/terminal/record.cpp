#include "advisor/runner/launch_check.h"
#include "advisor/runner/shell_words.h"
#include "advisor/runner/workspace.h"
#include "app/terminal/commands.h"
#include "app/terminal/inputs.h"
#include "app/terminal/output.h"
#include "app/terminal/recorded_process.h"
#include "app/terminal/remote_record.h"
#include "profiler/capture/collect_parts.h"
#include "profiler/capture/injection/variables.h"
#include "profiler/capture/recorder.h"
#include "profiler/capture/recording_scope.h"
#include "profiler/capture/system_sampler.h"
#include "profiler/model/result.h"
#include "profiler/model/version.h"
#include "profiler/os/file_lock.h"
#include "profiler/os/files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <thread>
#include <utility>
#include <variant>

namespace app::terminal {

using namespace advisor;

namespace {

namespace capture = profiler::capture;
namespace fs = std::filesystem;
using profiler::Error;
using profiler::makeError;
using profiler::Message;
using profiler::message;
using profiler::Result;
using Variables = std::vector<std::pair<std::string, std::string>>;

/// The result of a recording.
struct RecordReport {
    std::optional<CommandEnd> end;                      ///< no value: the command was not started
    std::optional<profiler::capture::Collected> result; ///< no value: there is no trace
    std::optional<profiler::Error> error;               ///< why there is none
    std::filesystem::path written = {};                 ///< the trace, or the folder with one per rank
    std::size_t ranks = 0;                              ///< number of traces in the folder; 0: one trace
};

int statusOf(const RecordReport& report)
{
    const int command = report.end ? report.end->shellStatus() : 0;
    return command == 0 && report.error ? kBadInput : command;
}

nlohmann::ordered_json jsonOf(const RecordReport& report, const RecordOptions& options)
{
    nlohmann::ordered_json json{{"schema", 1},
                                {"trace", (report.written.empty() ? options.trace : report.written).string()}};
    if (report.ranks > 0)
        json["ranks"] = report.ranks;
    if (report.result) {
        json["processes"] = report.result->processes;
        json["events"] = report.result->events;
        json["dropped"] = report.result->dropped;
        json["notes"] = textsJson(report.result->notes);
        json["note_messages"] = messagesJson(report.result->notes);
    }
    if (report.end) {
        json["exit_status"] = report.end->shellStatus();
        json["signal"] = report.end->signal;
        json["ended"] = report.end->text();
    }
    if (report.error)
        json["error"] = errorJson(*report.error);
    return json;
}

void printReport(const RecordReport& report, const RecordOptions& options, std::ostream& to)
{
    constexpr const char* kName = "stepscope-cli record: ";
    if (report.error) {
        to << kName << report.error->message();
        if (report.end)
            to << " · the command " << report.end->text();
        to << '\n';
        return;
    }
    const auto& result = *report.result;
    for (const profiler::Message& note : result.notes)
        to << kName << note.text << '\n';
    to << kName
       << fmt::format("{} · {}{} {}, {} events{} · the command {}\n",
                      (report.written.empty() ? options.trace : report.written).string(),
                      report.ranks > 0 ? fmt::format("{} ranks, ", report.ranks) : "", result.processes,
                      result.processes == 1 ? "process" : "processes", result.events,
                      result.dropped > 0 ? fmt::format(" ({} dropped)", result.dropped) : "", report.end->text());
    if (result.events > 0)
        to << kName << "to see what could be faster: stepscope-cli advise "
           << runner::commandLine({(report.written.empty() ? options.trace : report.written).string()}) << '\n';
}

/// Reports the result as requested by the options: as a line on stderr, as JSON on stderr, or as JSON in a file.
/// @return the exit status: the command's own; kBadInput if nothing was recorded and the command succeeded
int say(const RecordReport& report, const RecordOptions& options, const Streams& streams)
{
    const int status = statusOf(report);
    if (!options.report.empty()) {
        std::ofstream file(options.report, std::ios::trunc);
        file << jsonText(jsonOf(report, options), true) << '\n';
        file.close();
        if (file)
            return status;
        streams.err << "stepscope-cli record: the report could not be written: " << options.report.string() << '\n';
    }
    if (options.json && !report.error)
        streams.err << jsonText(jsonOf(report, options), true) << '\n';
    else
        printReport(report, options, streams.err);
    return status;
}

/// Ranks of the command that --ranks leaves out.
struct UnchosenRanks {
    std::set<std::int64_t> ranks;
    std::int64_t worldSize = 0; ///< 0 without such ranks
};

// Time for workers and servers that outlive the command to finish their traces.
constexpr auto kWaitForOthers = std::chrono::seconds(5);

/// Check before the command runs, not after an hour, that the folder exists and is writable.
Result<fs::path> checkedOutput(const fs::path& wanted)
{
    std::error_code ignored;
    const auto path = fs::absolute(wanted, ignored);
    if (path.empty())
        return fail<"record.output.no_name", "the output has no file name">(Error::Code::Invalid, {},
                                                                            "specify a file name");
    if (!fs::is_directory(path.parent_path(), ignored))
        return fail<"record.output.missing", "the output folder does not exist">(
            Error::Code::NotFound, path.parent_path().string(), "create it first, or choose an existing one");
    if (!profiler::os::canWrite(path.parent_path()))
        return fail<"record.output.permission", "the output folder is not writable">(
            Error::Code::Permission, path.parent_path().string(), "choose a folder that you can write to");
    return path;
}

/// For all processes of the recording, relative to the command's start. The upper limit is beyond any run.
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

/// The file in which the command's processes report what could not be recorded.
fs::path notesFile(const fs::path& trace)
{
    return trace.string() + ".notes";
}

/// The file to which a process that hangs writes its stacks.
fs::path stacksFile(const fs::path& trace)
{
    return trace.string() + ".stacks";
}

/// 0: no limit. The texts of the limits have been checked, see checkLimits().
std::uint64_t maxBytes(const RecordOptions& options)
{
    return options.maxSize.empty() ? 0 : capture::byteCountOf(options.maxSize).value_or(0);
}

/// The first error in --steps, --ranks and --max-size, if any.
Result<void> checkLimits(const RecordOptions& options)
{
    if (!options.steps.empty())
        if (const auto steps = capture::stepRangeOf(options.steps); !steps)
            return tl::unexpected(steps.error());
    if (!options.ranks.empty())
        if (const auto ranks = capture::rankListOf(options.ranks); !ranks)
            return tl::unexpected(ranks.error());
    if (!options.maxSize.empty())
        if (const auto bytes = capture::byteCountOf(options.maxSize); !bytes)
            return tl::unexpected(bytes.error());
    return {};
}

Result<Variables> variablesFor(const RecordOptions& options, const fs::path& trace, const profiler::TimeRange& window)
{
    namespace variable = capture::variable;
    const auto library = runner::findNearProgram(
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
    // Variables that an enclosing recording has set do not apply to this one.
    const auto timeOr = [](bool wanted, profiler::TraceTime time) {
        return wanted ? std::to_string(profiler::toNs(time)) : std::string();
    };
    variables.emplace_back(variable::kFrom, timeOr(options.after > 0, window.begin));
    variables.emplace_back(variable::kUntil, timeOr(options.seconds > 0, window.end));
    variables.emplace_back(variable::kSteps, options.steps);
    variables.emplace_back(variable::kRanks, options.ranks);
    variables.emplace_back(variable::kMaxBytes, maxBytes(options) > 0 ? std::to_string(maxBytes(options)) : "");
    variables.emplace_back(variable::kNotes, notesFile(trace).string());
    if (!options.python)
        return variables;
    // Python is only one kind of program: without its module, other programs can still be recorded.
    if (const auto hooks = runner::findPythonHooks()) {
        runner::EnvironmentVariables environment = runner::currentEnvironment();
        runner::addHooks(environment, *hooks);
        for (const char* name : {"PYTHONPATH", "LD_PRELOAD", variable::kPython})
            if (const auto found = environment.find(name); found != environment.end())
                variables.emplace_back(*found);
        variables.emplace_back("STEPSCOPE_STACKS", options.patience > 0 ? stacksFile(trace).string() : "");
        variables.emplace_back("STEPSCOPE_PATIENCE", fmt::format("{}", options.patience));
    }
    return variables;
}

/// Sets the variables of --env for this process as well, because PATH determines where the command is found.
void setEnvironment(const std::vector<std::string>& assignments)
{
    for (const std::string& assignment : assignments) {
        const std::size_t equals = assignment.find('=');
        setenv(assignment.substr(0, equals).c_str(), assignment.substr(equals + 1).c_str(), 1);
    }
}

/// Notes from the command's processes, without duplicates.
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

/// The report of a process that was stopped because it hung, if there was one.
std::optional<Message> takeHang(const RecordOptions& options, const fs::path& trace)
{
    const fs::path path = stacksFile(trace);
    std::ifstream file(path);
    const std::string stacks((std::istreambuf_iterator<char>(file)), {});
    std::error_code ignored;
    fs::remove(path, ignored);
    if (stacks.empty())
        return std::nullopt;
    return message<"record.hung", "the program completed no step for {time} and was stopped; its stacks: {stacks}">(
        {{"time", options.patience * 1e6, fmt::format("{} s", options.patience)}, {"stacks", stacks}});
}

/// Samples of the machine and of the command's first process; taken in this process, so that they cost the command
/// nothing.
class MachineSamples {
public:
    void start(const fs::path& trace, profiler::os::ProcessId command, const profiler::TimeRange& window)
    {
        auto part = capture::startPart(trace, {.path = {}, .ringEvents = 1 << 12, .maxThreads = 4});
        if (!part) { // the command's processes will have the same problem
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
    /// The file that contains the samples; empty if there are none.
    [[nodiscard]] const fs::path& part() const { return m_part; }
    /// Why nothing can be written next to the trace, if that is the case.
    [[nodiscard]] const std::optional<Error>& trouble() const { return m_trouble; }

private:
    std::optional<Error> m_trouble;
    fs::path m_part;
    std::unique_ptr<capture::Recorder> m_recorder;
    std::unique_ptr<capture::SystemSampler> m_sampler;
};

/// "1-6,8"
std::string rankText(const std::set<std::int64_t>& ranks)
{
    std::vector<capture::NumberRange> ranges;
    for (const std::int64_t rank : ranks)
        if (!ranges.empty() && ranges.back().last + 1 == rank)
            ranges.back().last = rank;
        else
            ranges.push_back({rank, rank});
    return capture::rankListText(ranges);
}

/// Takes the ranks that are not recorded by choice out of the notes of the command's processes.
UnchosenRanks takeUnchosen(std::vector<Message>& said)
{
    UnchosenRanks found;
    const auto numberOf = [](const Message& note, std::string_view name) {
        const profiler::MessageParameter* const parameter = note.find(name);
        const auto* const number = parameter ? std::get_if<std::int64_t>(&parameter->value) : nullptr;
        return number ? *number : 0;
    };
    std::erase_if(said, [&](const Message& note) {
        if (note.id != "record.rank.not_chosen")
            return false;
        found.ranks.insert(numberOf(note, "rank"));
        found.worldSize = std::max(found.worldSize, numberOf(note, "ranks"));
        return true;
    });
    return found;
}

/// The error if the command has started ranks, but none of those that --ranks names.
Error noneChosen(const RecordOptions& options, const UnchosenRanks& unchosen)
{
    return makeError<"record.ranks.none", "the command has no rank {list}">(
        Error::Code::NotFound, "--ranks",
        fmt::format("choose from its ranks, 0 to {}", std::max<std::int64_t>(unchosen.worldSize, 1) - 1),
        {{"list", options.ranks}});
}

/// Notes on what the limits excluded, for the report; the traces and the manifest contain them as well.
std::vector<Message> limitNotes(const RecordOptions& options, const std::vector<capture::TracePart>& parts,
                                const UnchosenRanks& unchosen, const std::map<std::int64_t, RankParts>& ranks)
{
    std::vector<Message> notes;
    if (!options.maxSize.empty())
        for (const capture::TracePart& part : parts) {
            const auto metadata = capture::metadataOf(part);
            const auto full = metadata.find("size.note");
            if (full == metadata.end())
                continue;
            const auto rank = metadata.find(capture::rank_key::kRank);
            const std::string why = profiler::messageOfLine(full->second).text;
            notes.push_back(rank == metadata.end() ? message<"record.full.process", "process {process}: {why}">(
                                                         {{"process", part.pid}, {"why", why}})
                                                   : message<"record.full.rank", "rank {rank}: {why}">(
                                                         {{"rank", std::atoll(rank->second.c_str())}, {"why", why}}));
        }
    if (options.ranks.empty())
        return notes;
    if (ranks.empty() && unchosen.ranks.empty()) {
        notes.push_back(message<"record.ranks.no_job", "--ranks has no effect: the command started no ranks">());
        return notes;
    }
    std::int64_t worldSize = unchosen.worldSize;
    for (const auto& [rank, own] : ranks)
        if (const auto size = own.metadata.find(capture::rank_key::kWorldSize); size != own.metadata.end())
            worldSize = std::max<std::int64_t>(worldSize, std::atoll(size->second.c_str()));
    const auto chosen = capture::rankListOf(options.ranks);
    if (chosen && worldSize > 0 && chosen->back().last >= worldSize)
        notes.push_back(message<"record.ranks.beyond", "--ranks names rank {rank}, and the job has only {ranks} ranks">(
            {{"rank", chosen->back().last}, {"ranks", worldSize}}));
    if (!unchosen.ranks.empty()) {
        const std::string list = rankText(unchosen.ranks);
        notes.push_back(message<"record.ranks.unrecorded", "{ranks|rank|ranks} {list} ran unrecorded (--ranks)">(
            {{"ranks", unchosen.ranks.size()}, {"list", list}}));
    }
    return notes;
}

/// Parts of this recording; parts of an earlier one that was killed are not touched. The machine samples come last,
/// because the other parts determine the numbering of the GPUs.
std::vector<capture::TracePart> newParts(const fs::path& trace, const std::set<fs::path>& before,
                                         const fs::path& machine)
{
    auto parts = capture::findParts(trace);
    std::erase_if(parts, [&](const capture::TracePart& part) { return before.contains(part.path); });
    std::stable_partition(parts.begin(), parts.end(), [&](const auto& part) { return part.path != machine; });
    return parts;
}

/// @param trouble the error of this process when writing next to the trace; the command's processes had the same one
/// @param said notes of the command's processes
Error nothingRecorded(const RecordOptions& options, const std::optional<Error>& trouble,
                      const std::vector<Message>& said, const UnchosenRanks& unchosen)
{
    if (!said.empty())
        return makeError<"record.nothing.said", "nothing was recorded: {why}">(Error::Code::NotFound, {}, {},
                                                                               {{"why", said.front().text}});
    if (!unchosen.ranks.empty() && options.steps.empty())
        return noneChosen(options, unchosen);
    if (trouble)
        return {trouble->code,
                message<"record.nothing.unwritten",
                        "nothing was recorded, because no part of the trace could be written: {why}">(
                    {{"why", trouble->what.text}, {"error", trouble->what.id}}),
                trouble->where, trouble->hint};
    if (!options.steps.empty())
        return makeError<"record.nothing.steps", "nothing was recorded of steps {steps}">(
            Error::Code::NotFound, {},
            "record earlier steps, or a Python program whose DataLoaders and optimizers, or stepscope.step(), mark "
            "steps",
            {{"steps", options.steps}});
    if (options.after > 0)
        return makeError<"record.nothing.after", "nothing was recorded after {after}">(
            Error::Code::NotFound, {},
            "start recording earlier: by then, the command had ended or no longer used CUDA, NVTX or Python",
            {{"after", options.after * 1e6, fmt::format("{} s", options.after)}});
    if (!options.python)
        return makeError<"record.nothing.no_python", "nothing was recorded: the command and its children used neither "
                                                     "CUDA nor NVTX, and --no-python excludes Python">(
            Error::Code::NotFound, {},
            "Record Python programs without --no-python; statically linked programs cannot be recorded");
    return makeError<"record.nothing.used", "nothing was recorded: the command and its children used neither CUDA nor "
                                            "NVTX, nor a Python that loads Stepscope's module">(
        Error::Code::NotFound, {},
        "See the messages above, or record a program that uses one of them; do not run Python with -I, -E or -S, and "
        "note that statically linked programs cannot be recorded");
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

/// Waits until the processes that the command left behind have exited, at most kWaitForOthers: a daemon may not have
/// begun its part of the trace yet.
void waitForOrphans()
{
    std::error_code failed;
    const std::string self = fs::read_symlink("/proc/self", failed).string();
    const auto until = std::chrono::steady_clock::now() + kWaitForOthers;
    constexpr std::chrono::milliseconds kEvery{20};
    for (; std::chrono::steady_clock::now() < until; std::this_thread::sleep_for(kEvery)) {
        waitForWriters({}, {}); // reaps those that have exited
        std::ifstream children("/proc/self/task/" + self + "/children");
        std::string child;
        if (!(children >> child))
            return;
    }
}

/// The folder for the ranks of a job next to the trace that is not written then: "train" for "train.sstrace".
fs::path rankFolder(const fs::path& trace)
{
    fs::path folder = trace;
    folder.replace_extension();
    std::error_code ignored;
    for (int number = 2; fs::exists(folder, ignored) && !fs::is_empty(folder, ignored); ++number)
        folder = trace.parent_path() / fmt::format("{}-{}", trace.stem().string(), number);
    return folder;
}

/// A path as the user named it: absolute, or relative to the working directory for what is in it.
fs::path shownPath(const fs::path& path, const fs::path& named)
{
    if (named.is_absolute())
        return path;
    std::error_code ignored;
    fs::path relative = path.lexically_relative(fs::current_path(ignored));
    return relative.empty() || *relative.begin() == ".." ? path : relative;
}

/// Where a recording writes.
struct Output {
    fs::path trace;  ///< if the command does not start ranks
    fs::path parts;  ///< the path that the names of the parts extend
    fs::path folder; ///< receives one trace per rank if the command started several; empty: one trace for all of them
};

/// Creates the trace from the parts that the command's processes have written.
RecordReport collected(const RecordOptions& options, const Output& output, const std::set<fs::path>& before,
                       const CommandEnd& end, const MachineSamples& samples)
{
    const fs::path& folder = output.folder;
    const auto isMachine = [&](const capture::TracePart& part) { return part.path == samples.part(); };
    waitForOrphans();
    std::vector<fs::path> written;
    for (const auto& part : newParts(output.parts, before, samples.part()))
        written.push_back(part.path);
    const std::vector<fs::path> running = waitForWriters(std::move(written), kWaitForOthers);
    std::vector<Message> said = takeNotes(output.parts);
    const UnchosenRanks unchosen = takeUnchosen(said);
    if (auto hang = takeHang(options, output.parts))
        said.push_back(std::move(*hang));
    const auto parts = newParts(output.parts, before, samples.part());
    if (parts.empty() || isMachine(parts.front())) {
        capture::removeParts(parts);
        return failed(nothingRecorded(options, samples.trouble(), said, unchosen), end);
    }
    const auto ranks =
        folder.empty() ? std::map<std::int64_t, RankParts>() : partsByRank(parts, options.ranks.empty() ? 2 : 1);
    if (ranks.empty() && !folder.empty() && !unchosen.ranks.empty()) {
        capture::removeParts(parts);
        return failed(noneChosen(options, unchosen), end);
    }
    const std::vector<Message> limits = limitNotes(options, parts, unchosen, ranks);
    std::vector<std::pair<std::string, std::string>> metadata = {
        {"record.command", runner::commandLine(options.command)},
        {"record.directory", workingDirectory()},
        {"record.exit_status", std::to_string(end.shellStatus())},
        {"capture.level", options.level},
        {"stepscope.version", std::string(profiler::version())}};
    for (auto& fact : profiler::recordingEndMetadata(end.recordingEnd()))
        metadata.push_back(std::move(fact));
    for (const auto& [key, value] :
         {std::pair("record.steps", &options.steps), std::pair("record.ranks", &options.ranks)})
        if (!value->empty())
            metadata.emplace_back(key, *value);
    std::error_code notCreated;
    if (!ranks.empty())
        fs::create_directories(folder, notCreated); // writing the traces reports an error
    auto collected =
        ranks.empty() ? capture::collectParts(
                            parts, {.trace = output.trace, .mainProcess = end.pid, .metadata = metadata, .notes = said})
                      : collectRanks(ranks, {.folder = folder,
                                             .metadata = metadata,
                                             .notes = said,
                                             .command = runner::commandLine(options.command),
                                             .directory = workingDirectory(),
                                             .steps = options.steps,
                                             .unrecorded = rankText(unchosen.ranks),
                                             .maxBytes = maxBytes(options),
                                             .end = end});
    if (!collected) {
        Error error = collected.error();
        error.hint += (error.hint.empty() ? "" : "; ") + std::string("the recording of each process is in ") +
                      parts.front().path.string() + (parts.size() > 1 ? " and similar files" : "");
        return failed(std::move(error), end);
    }
    for (const auto& part : parts)
        if (std::find(running.begin(), running.end(), part.path) != running.end())
            collected->notes.push_back(
                message<"record.part.still_runs", "process {process} is still running; its trace so far is included">(
                    {{"process", part.pid}}));
    collected->notes.insert(collected->notes.end(), limits.begin(), limits.end());
    if (ranks.empty())
        capture::removeParts(parts);
    collected->processes -= isMachine(parts.back()) ? 1 : 0;
    return {
        end, std::move(*collected), {}, shownPath(ranks.empty() ? output.trace : folder, options.trace), ranks.size()};
}

/// Locks the trace, so that two recordings cannot mix their parts in one file.
Result<std::optional<profiler::os::LockFile>> lockTrace(const fs::path& trace)
{
    auto lock = profiler::os::LockFile::acquire(trace.string() + ".lock");
    if (!lock && errno == EAGAIN)
        return fail<"record.output.busy", "another recording is writing this trace">(
            Error::Code::Unavailable, trace.string(), "choose another name, or wait until that recording has ended");
    return lock; // on a file system without locks, recording continues without one
}

/// The first problem that would prevent the command from running.
std::optional<Error> launchProblem(const RecordOptions& options)
{
    std::error_code ignored;
    const auto problems = runner::checkLaunch({options.command, fs::current_path(ignored), options.environment});
    if (problems.empty())
        return std::nullopt;
    return Error{problems.front().code, problems.front().what, problems.front().where, problems.front().hint};
}

/// "train" for `python train.py` and `torchrun -m pkg.train`.
std::string traceName(const std::vector<std::string>& command)
{
    const std::string name = runner::programName(command);
    const auto word = std::find(command.begin(), command.end(), name);
    const bool isModule = word != command.begin() && word != command.end() && *std::prev(word) == "-m";
    if (isModule)
        return name.substr(name.rfind('.') + 1);
    return name.empty() ? "recording" : fs::path(name).stem().string();
}

/// In the working directory: train.sstrace, or train-2.sstrace if that exists.
fs::path freeName(const std::vector<std::string>& command)
{
    const std::string name = traceName(command);
    std::error_code ignored;
    fs::path path = name + ".sstrace";
    for (int number = 2; fs::exists(path, ignored) || fs::exists(path.string() + ".lock", ignored); ++number)
        path = fmt::format("{}-{}.sstrace", name, number);
    return path;
}

/// @param isNamed  the user named the trace
RecordReport recorded(const RecordOptions& options, bool isNamed)
{
    // In a folder, the trace has the name of the program, and each of several ranks has its own trace.
    std::error_code ignored;
    const bool isFolder = isNamed && (!options.trace.has_filename() || fs::is_directory(options.trace, ignored));
    fs::path wanted = options.trace;
    if (isFolder) {
        fs::create_directories(wanted, ignored); // the check below reports what is wrong
        wanted /= traceName(options.command) + ".sstrace";
    }
    const auto trace = checkedOutput(wanted);
    if (!trace)
        return failed(trace.error());
    Output output{*trace, *trace, isFolder ? trace->parent_path() : isNamed ? fs::path() : rankFolder(*trace)};
    if (isFolder) // which the machines of a job may share
        output.parts.replace_filename(fmt::format("{}@{}.sstrace", trace->stem().string(), profiler::os::hostName()));
    if (auto problem = launchProblem(options))
        return failed(std::move(*problem));
    const auto lock = lockTrace(output.parts);
    if (!lock)
        return failed(lock.error());
    setEnvironment(options.environment);
    takeNotes(output.parts); // removes notes of an earlier recording that was killed
    static_cast<void>(takeHang(options, output.parts));
    const profiler::TimeRange window = windowOf(options);
    const auto variables = variablesFor(options, output.parts, window);
    if (!variables)
        return failed(variables.error());
    std::set<fs::path> before;
    for (const auto& part : capture::findParts(output.parts))
        before.insert(part.path);
    MachineSamples samples;
    const auto end = runCommand(options.command, *variables,
                                [&](profiler::os::ProcessId command) { samples.start(output.parts, command, window); });
    if (!end)
        return failed(end.error());
    samples.end();
    return collected(options, output, before, *end, samples);
}

} // namespace

int record(const RecordOptions& wanted, const Streams& streams)
{
    if (wanted.place.isRemote())
        return recordRemotely(wanted, streams);
    if (wanted.level == kSteps)
        return recordAlwaysOn(wanted, streams);
    RecordOptions options = wanted;
    const bool isNamed = !options.trace.empty();
    if (options.trace.empty() && !options.command.empty())
        options.trace = freeName(options.command);
    if (const auto named = checkTraceName(options.trace, "record"); !named) {
        streams.err << named.error().message() << '\n';
        return kWrongUsage;
    }
    if (const auto limits = checkLimits(options); !limits) {
        streams.err << limits.error().message() << '\n';
        return kWrongUsage;
    }
    std::error_code none;
    if (!options.report.empty() &&
        fs::weakly_canonical(options.report, none) == fs::weakly_canonical(options.trace, none)) {
        streams.err << "the report would overwrite the trace (" << options.trace.string() << "): choose another name\n";
        return kWrongUsage;
    }
    return say(recorded(options, isNamed), options, streams);
}

} // namespace app::terminal
