#include "app/terminal/remote_record.h"

#include "advisor/runner/launch_check.h"
#include "advisor/runner/remote_answer.h"
#include "advisor/runner/remote_bundle.h"
#include "advisor/runner/remote_frames.h"
#include "advisor/runner/remote_host.h"
#include "advisor/runner/remote_job.h"
#include "advisor/runner/remote_setup.h"
#include "advisor/runner/shell_words.h"
#include "app/terminal/commands.h"
#include "app/terminal/interrupt.h"
#include "app/terminal/output.h"
#include "app/terminal/remote_command.h"
#include "app/terminal/remote_serve.h"
#include "profiler/model/number_text.h"
#include "profiler/os/files.h"

#include <cerrno>
#include <charconv>
#include <chrono>
#include <fmt/format.h>
#include <optional>
#include <system_error>
#include <thread>

namespace app::terminal {

using namespace advisor;

namespace {

namespace fs = std::filesystem;
namespace remote_job = runner::remote_job;
using profiler::Error;
using profiler::fail;
using profiler::Result;
using runner::harmlessText;
using runner::RemoteFrame;
using runner::RemoteHost;
using runner::shellWord;

constexpr std::size_t kMostFiles = 20'000;
constexpr std::uint64_t kMostReport = 16 << 20;
constexpr int kAttempts = 6; ///< to connect again, after 1, 2, 4 … seconds
/// A recording on another machine.
class Remote {
public:
    Remote(const RecordOptions& options, const Streams& streams, RemoteHost host)
        : m_options(options), m_streams(streams), m_host(std::move(host))
    {
    }

    /// @return the exit status of the command
    Result<int> run()
    {
        if (auto prepared = prepare(); !prepared)
            return tl::unexpected(prepared.error());
        constexpr std::uint64_t kForTraces = 64 << 20;
        const auto program = runner::setUpRemoteProgram(
            m_host,
            {.folder = m_options.place.folder,
             .environment = m_options.environment,
             .command = m_options.command.front(),
             .freeBytes = kForTraces},
            [&](std::uint64_t bytes) {
                m_streams.err << fmt::format("stepscope-cli record: uploading the recording part ({}) to {}\n",
                                             profiler::bytesText(bytes), m_host.name());
            },
            [] { return interrupts() == 0; });
        if (!program)
            return tl::unexpected(program.error());
        m_program = program->program;
        m_job = runner::newRemoteJob(*program);
        auto status = follow();
        if (!status)
            return status;
        static_cast<void>(stop(false)); // ends what the command left running there
        if (auto fetched = fetch(); !fetched)
            return tl::unexpected(fetched.error());
        static_cast<void>(m_host.run(
            "rm -rf -- " + shellWord(m_job), {}, [](std::string_view) { return true; }, [] { return true; }));
        return status;
    }
    /// Where the files were written; empty before that.
    [[nodiscard]] const fs::path& written() const { return m_written; }
    /// The recorder's report; null if there is none. Untrusted.
    [[nodiscard]] const nlohmann::json& report() const { return m_report; }

private:
    Result<void> prepare();
    Result<int> follow();
    Result<void> stop(bool isUrgent);
    Result<void> fetch();
    [[nodiscard]] std::string startScript() const;
    [[nodiscard]] std::string jobScript(const std::string& action) const
    {
        return shellWord(m_program) + " remote --action " + action + " --job " + shellWord(m_job);
    }
    [[nodiscard]] fs::path destination(const std::vector<fs::path>& files) const;

    const RecordOptions& m_options;
    const Streams& m_streams;
    RemoteHost m_host;
    std::string m_program, m_job;             ///< on the other machine
    std::uint64_t m_output = 0, m_errors = 0; ///< bytes received
    int m_stops = 0;                          ///< times that the command was stopped, by an interrupt each
    fs::path m_parent;                        ///< of the result
    fs::path m_written;
    nlohmann::json m_report;
};

/// Noticed before the command runs, not after an hour.
Result<void> Remote::prepare()
{
    std::error_code failed;
    const fs::path& named = m_options.trace;
    if (!named.empty() && !named.has_filename())
        fs::create_directories(named, failed);
    m_parent = fs::absolute(named.empty() ? fs::path("x") : named, failed).parent_path();
    if (profiler::os::canWrite(m_parent))
        return {};
    return fail<"remote.destination", "the trace cannot be written here">(
        Error::Code::Permission, m_parent.string(), "name a folder that exists and that you can write to with -o");
}

std::string Remote::startScript() const
{
    using namespace remote_job;
    std::vector<std::string> words{m_program,
                                   "remote",
                                   "--action",
                                   "supervise",
                                   "--job",
                                   m_job,
                                   "--",
                                   m_program,
                                   "record",
                                   "-o",
                                   m_job + "/" + kTrace + "/",
                                   "--report",
                                   m_job + "/" + kReport};
    const auto add = [&](const char* name, const std::string& value) { words.insert(words.end(), {name, value}); };
    add("--level", m_options.level);
    if (m_options.operators)
        words.emplace_back("--ops");
    if (m_options.opsEvery > 0) {
        add("--ops-every", std::to_string(m_options.opsEvery));
        add("--ops-window", std::to_string(m_options.opsWindow));
    }
    if (!m_options.python)
        words.emplace_back("--no-python");
    for (const std::string& assignment : m_options.environment)
        add("--env", assignment);
    for (const auto& [name, seconds] : {std::pair{"--after", m_options.after},
                                        {"--for", m_options.seconds},
                                        {"--patience", m_options.patience},
                                        {"--capture-slow", m_options.captureSlow}})
        if (seconds > 0)
            add(name, fmt::format("{}", seconds));
    for (const auto& [name, text] :
         {std::pair{"--steps", &m_options.steps}, {"--ranks", &m_options.ranks}, {"--max-size", &m_options.maxSize}})
        if (!text->empty())
            add(name, *text);
    words.emplace_back("--");
    words.insert(words.end(), m_options.command.begin(), m_options.command.end());
    const std::string folder =
        m_options.place.folder.empty() ? "" : "cd -- " + shellWord(m_options.place.folder) + " && ";
    const std::string job = shellWord(m_job);
    // A separate session: the end of the connection does not end it. Some containers have no setsid.
    return "own=$(command -v setsid); " + folder + "mkdir -p " + shellWord(m_job + "/" + kTrace) + " && : > " +
           shellWord(m_job + "/" + kOutput) + " && { " + kVariable + "=" + job + " $own " + runner::commandLine(words) +
           " < /dev/null > " + shellWord(m_job + "/" + kOutput) + " 2> " + shellWord(m_job + "/" + kErrors) +
           " & } && ";
}

Result<void> Remote::stop(bool isUrgent)
{
    const auto ran = m_host.run(
        jobScript(isUrgent ? "kill" : "stop"), {}, [](std::string_view) { return true; },
        [&] { return isUrgent || interrupts() <= m_stops; });
    if (!ran)
        return tl::unexpected(ran.error());
    return {};
}

Result<int> Remote::follow()
{
    std::optional<int> status;
    bool isStarted = false;
    for (int attempt = 0; attempt <= kAttempts; ++attempt) {
        if (attempt > 0)
            std::this_thread::sleep_for(std::chrono::seconds(1 << (attempt - 1)));
        runner::RemoteFrames frames;
        std::optional<Error> wrong;
        const auto take = [&](RemoteFrame type, std::string_view payload) -> Result<void> {
            attempt = 0;
            if (type == RemoteFrame::Output) {
                m_streams.out << payload << std::flush;
                m_output += payload.size();
            } else if (type == RemoteFrame::Errors) {
                m_streams.err << payload << std::flush;
                m_errors += payload.size();
            } else if (type == RemoteFrame::Ended) {
                int number = 0;
                std::from_chars(payload.data(), payload.data() + payload.size(), number);
                status = number & 0xFF;
            }
            return {};
        };
        const std::string script = (isStarted ? "" : startScript()) + jobScript("follow") +
                                   fmt::format(" --output {} --errors {}", m_output, m_errors);
        const auto ran = m_host.run(
            script, {},
            [&](std::string_view piece) {
                if (auto added = frames.add(piece, take); !added)
                    wrong = added.error();
                isStarted = isStarted || frames.hasBegun();
                return !wrong && !status;
            },
            [&] {
                // The first Ctrl-C interrupts the command there; the second one kills it.
                if (interrupts() > m_stops) {
                    ++m_stops;
                    static_cast<void>(stop(m_stops > 1)); // without a connection, the loop around this notices
                }
                return true;
            });
        if (!ran)
            return tl::unexpected(ran.error());
        if (status)
            return *status;
        if (wrong)
            return tl::unexpected(*wrong);
        if (!isStarted) {
            static_cast<void>(stop(true)); // it may have been started nevertheless
            return tl::unexpected(runner::unreachable(m_host, *ran));
        }
        if (attempt < kAttempts)
            m_streams.err << fmt::format("stepscope-cli record: the connection to {} was lost; connecting again\n",
                                         m_host.name());
    }
    return fail<"remote.lost", "the connection was lost; the command continues on the other machine">(
        Error::Code::Unavailable, m_host.name() + ":" + m_job,
        "the trace will be in the folder trace there; copy it when the command has ended");
}

fs::path Remote::destination(const std::vector<fs::path>& files) const
{
    std::error_code ignored;
    const fs::path& named = m_options.trace;
    const auto isTrace = [](const fs::path& file) { return file.extension() == ".sstrace" && !file.has_parent_path(); };
    const bool isOne = files.size() == 1 && isTrace(files.front());
    if (!named.empty() && (!named.has_filename() || fs::is_directory(named, ignored) || m_options.level == kSteps))
        return named.has_filename() ? named : named.parent_path();
    const std::string program = runner::programName(m_options.command);
    fs::path base = named.empty() ? fs::path(program.empty() ? "recording" : fs::path(program).stem()) : named;
    if (isOne && !named.empty())
        return named;
    base.replace_extension(isOne ? ".sstrace" : "");
    const fs::path stem = base.parent_path() / base.stem();
    for (int number = 2; fs::exists(base, ignored); ++number)
        base = fmt::format("{}-{}{}", stem.string(), number, isOne ? ".sstrace" : "");
    return base;
}

/// A file that is being received.
struct Incoming {
    profiler::os::ReplacementFile file;
    fs::path name; ///< relative; empty for the report
    std::uint64_t left = 0;
};

Result<void> Remote::fetch()
{
    // Everything is written into a folder next to the result, and moved when it is complete.
    std::error_code failed;
    const profiler::os::TemporaryFolder temporary(m_parent / ".stepscope-fetch-");
    const fs::path& folder = temporary.path();
    if (folder.empty())
        return fail<"remote.write", "a received file cannot be written: {why}">(
            Error::Code::Io, m_parent.string(), "make space on the disk; the files are still there",
            {{"why", std::generic_category().message(errno)}});
    std::vector<fs::path> files;
    std::optional<Incoming> incoming;
    std::string report;
    std::uint64_t reportLeft = 0, total = 0;
    const std::uint64_t room = fs::space(folder, failed).available;
    bool isDone = false;
    const auto malformed = [&] {
        return fail<"remote.files", "the other machine sent a file that is not accepted">(
            Error::Code::Malformed, m_host.name() + ":" + m_job, "copy the files of the recording yourself");
    };
    const auto written = [&](int number) {
        return fail<"remote.write", "a received file cannot be written: {why}">(
            Error::Code::Io, folder.string(), "make space on the disk; the files are still there",
            {{"why", std::generic_category().message(number)}});
    };
    const auto begin = [&](std::string_view payload) -> Result<void> {
        const auto file = runner::remoteFileOf(payload);
        if (!file || incoming || reportLeft > 0 || files.size() >= kMostFiles)
            return malformed();
        if (file->name == remote_job::kReport) {
            if (file->bytes > kMostReport)
                return malformed();
            reportLeft = file->bytes;
            return {};
        }
        if (*file->name.begin() != remote_job::kTrace || ++file->name.begin() == file->name.end())
            return malformed();
        if (file->bytes > room || total > room - file->bytes)
            return written(ENOSPC);
        total += file->bytes;
        const fs::path name = file->name.lexically_relative(remote_job::kTrace);
        std::error_code notCreated;
        fs::create_directories((folder / name).parent_path(), notCreated);
        auto created = profiler::os::ReplacementFile::create(folder / name);
        if (!created)
            return written(errno);
        incoming.emplace(Incoming{std::move(*created), name, file->bytes});
        return {};
    };
    const auto end = [&]() -> Result<void> {
        if (!incoming || incoming->left > 0)
            return {};
        if (const int number = incoming->file.commit(); number != 0)
            return written(number);
        files.push_back(incoming->name);
        incoming.reset();
        return {};
    };
    const auto take = [&](RemoteFrame type, std::string_view payload) -> Result<void> {
        if (type == RemoteFrame::File) {
            auto begun = begin(payload);
            return begun ? end() : begun;
        }
        if (type == RemoteFrame::Done) {
            isDone = !incoming && reportLeft == 0;
            return isDone ? Result<void>{} : malformed();
        }
        if (type != RemoteFrame::Data || (!incoming && payload.size() > reportLeft) ||
            (incoming && payload.size() > incoming->left))
            return malformed();
        if (!incoming) {
            report += payload;
            reportLeft -= payload.size();
            return {};
        }
        if (const int number = incoming->file.write(payload); number != 0)
            return written(number);
        incoming->left -= payload.size();
        return end();
    };
    runner::RemoteFrames frames;
    std::optional<Error> wrong;
    const auto ran = m_host.run(
        jobScript("files"), {},
        [&](std::string_view piece) {
            if (auto added = frames.add(piece, take); !added)
                wrong = added.error();
            return !wrong;
        },
        [] { return true; });
    if (!ran)
        return tl::unexpected(ran.error());
    if (wrong)
        return tl::unexpected(*wrong);
    if (!isDone)
        return fail<"remote.fetch", "the connection was lost before all files were transferred">(
            Error::Code::Unavailable, m_host.name() + ":" + m_job, "copy the folder trace from there");
    m_report = nlohmann::json::parse(report, nullptr, false);
    if (files.empty())
        return {};
    const fs::path place = destination(files);
    const bool isFile = place.extension() == ".sstrace" && files.size() == 1;
    if (!isFile)
        fs::create_directories(place, failed);
    for (const fs::path& file : files) {
        const fs::path to = isFile ? place : place / file;
        if (!isFile)
            fs::create_directories(to.parent_path(), failed);
        fs::rename(folder / file, to, failed);
        if (failed)
            return written(failed.value());
    }
    m_written = place;
    return {};
}

std::uint64_t countIn(const nlohmann::json& report, const char* key)
{
    const auto found = report.is_object() ? report.find(key) : report.end();
    return found != report.end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
}

} // namespace

int recordRemotely(const RecordOptions& options, const Streams& streams)
{
    constexpr const char* kName = "stepscope-cli record: ";
    catchInterrupts();
    auto host = hostOf(options.place);
    if (!host) {
        streams.err << kName << host.error().message() << '\n';
        return kWrongUsage;
    }
    const std::string name = host->name();
    Remote remote(options, streams, std::move(*host));
    const auto status = remote.run();
    const nlohmann::json& report = remote.report();
    std::optional<Error> error = status ? std::nullopt : std::optional(status.error());
    if (status && remote.written().empty()) {
        const auto why = report.is_object() && report.contains("error") && report["error"].is_object()
                             ? report["error"].value("what", "")
                             : "";
        error = profiler::makeError<"remote.nothing", "nothing was recorded there: {why}">(
            Error::Code::NotFound, name, {},
            {{"why", why.empty() ? "the recorder wrote no trace" : harmlessText(why)}});
    }
    nlohmann::ordered_json json{{"schema", 1}, {"host", name}, {"trace", remote.written().string()}};
    for (const char* key : {"processes", "events", "dropped", "ranks"})
        if (report.is_object() && report.contains(key) && report[key].is_number_unsigned())
            json[key] = countIn(report, key);
    if (status)
        json["exit_status"] = *status;
    if (error)
        json["error"] = errorJson(*error);
    int result = status.value_or(kBadInput);
    if (error && result == kDone)
        result = kBadInput;
    if (error && error->code == Error::Code::Cancelled)
        result = kInterrupted;
    if (!options.report.empty()) {
        auto file = profiler::os::ReplacementFile::create(options.report);
        if (file && file->write(jsonText(json, true) + '\n') == 0 && file->commit() == 0)
            return result;
        streams.err << kName << "the report could not be written: " << options.report.string() << '\n';
    }
    if (options.json && !error)
        streams.err << jsonText(json, true) << '\n';
    else if (error)
        streams.err << kName << error->message() << '\n';
    else
        streams.err << fmt::format("{}{} · recorded on {}, {} events · the command exited with status {}\n", kName,
                                   remote.written().string(), name, profiler::countText(countIn(report, "events")),
                                   *status);
    return result;
}

int remoteJob(const RemoteJobOptions& options)
{
    if (options.action == "supervise")
        return runner::superviseRemoteJob(options.job, options.command);
    if (options.action == "follow")
        return runner::followRemoteJob(options.job, options.output, options.errors);
    if (options.action == "files")
        return runner::sendRemoteFiles(options.job);
    if (options.action == "bundle")
        return runner::printRemoteBundle();
    if (options.action == "serve" && !options.command.empty())
        return serveRemoteTrace(options.command.front(), options.cache);
    if (options.action == "ranks" && !options.command.empty())
        return writeRemoteRanks(options.command.front(), options.job, options.cache);
    if (options.action == "merge" && !options.command.empty())
        return mergeRemoteRanks(options.command.front(), options.ranks, options.step, options.cache);
    if (options.action == "answer")
        return runner::answerRemotely(options.job, options.command);
    return runner::stopRemoteJob(options.job, options.action == "kill");
}

} // namespace app::terminal
