#include "app/terminal/recorded_process.h"

#include "app/terminal/output.h"
#include "profiler/capture/recording_scope.h"
#include "profiler/job/job_files.h"
#include "profiler/os/file_lock.h"
#include "profiler/os/signals.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <system_error>
#include <thread>

namespace app::terminal {

namespace os = profiler::os;
using profiler::Error;
using profiler::Result;

namespace {

/// The signals that are passed on, and the end of a child.
constexpr std::array kWatched = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCHLD};

Error cannotStart(int number, const std::string& program)
{
    if (number == ENOENT)
        return profiler::makeError<"launch.command.not_found", "command not found">(
            Error::Code::NotFound, program, "check its name, or specify its path");
    if (number == EACCES)
        return profiler::makeError<"record.command.permission", "the command may not be executed">(
            Error::Code::Permission, program,
            "make it executable (chmod +x), or start it with an interpreter: python " + program);
    return profiler::makeError<"record.command.failed", "the command cannot be started: {why}">(
        Error::Code::Unavailable, program,
        number == ENOEXEC ? "it is not an executable program; start it with an interpreter" : "",
        {{"why", std::generic_category().message(number)}});
}

/// "timeout (4711)"; the name is unknown if the process has already exited.
std::string senderOf(const os::ReceivedSignal& signal)
{
    if (signal.sender <= 0)
        return {};
    const std::string process = std::to_string(signal.sender);
    std::string name;
    std::ifstream file("/proc/" + process + "/comm");
    std::getline(file, name);
    return name.empty() ? "process " + process : name + " (" + process + ")";
}

bool asksForAnEnd(int signal)
{
    return signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT;
}

void note(CommandEnd& end, const os::ReceivedSignal& signal)
{
    if (end.received != 0 || !asksForAnEnd(signal.number))
        return;
    end.received = signal.number;
    end.fromTerminal = signal.isFromKernel;
    end.sender = senderOf(signal);
}

/// Waits for the command and passes signals on.
CommandEnd follow(os::ProcessId command, const os::BlockedSignals& watched)
{
    CommandEnd end;
    end.pid = command;
    for (;;) {
        const auto signal = watched.wait();
        if (signal)
            note(end, *signal);
        while (const auto ended = os::reapAnyChild()) {
            if (ended->first != command)
                continue;
            end.status = ended->second.status;
            end.signal = ended->second.signal;
            // A signal to the whole process group may have ended the command before it was seen here.
            while (const auto other = watched.take())
                note(end, *other);
            return end;
        }
        // A terminal also sends its own signals (Ctrl-C) to the command.
        if (signal && signal->number != SIGCHLD && !signal->isFromKernel)
            os::sendSignal(command, signal->number);
    }
}

} // namespace

profiler::RecordingEnd CommandEnd::recordingEnd() const
{
    return {.recorderSignal = received,
            .terminal = fromTerminal,
            .sender = sender,
            .programSignal = signal,
            .programStatus = status};
}

std::string CommandEnd::text() const
{
    if (signal == 0)
        return "exited with status " + std::to_string(status);
    return "was killed by signal " + std::to_string(signal) + " (" + strsignal(signal) + ")";
}

Result<CommandEnd> runCommand(const std::vector<std::string>& command,
                              const std::vector<std::pair<std::string, std::string>>& variables,
                              const std::function<void(os::ProcessId)>& started)
{
    for (const auto& [name, value] : variables)
        setenv(name.c_str(), value.c_str(), 1);
    os::adoptOrphans(); // processes that the command left behind are waited for separately
    os::BlockedSignals watched(kWatched);
    const auto child = os::startChild({.program = command.front(), .words = command, .blocked = &watched});
    if (!child)
        return tl::unexpected(cannotStart(errno, command.front()));
    started(*child);
    const CommandEnd end = follow(*child, watched);
    watched.keepBlocked(std::array{SIGINT, SIGTERM, SIGHUP});
    return end;
}

std::vector<std::filesystem::path> waitForWriters(std::vector<std::filesystem::path> files,
                                                  std::chrono::milliseconds atMost)
{
    constexpr std::chrono::milliseconds kEvery{20};
    const auto until = std::chrono::steady_clock::now() + atMost;
    for (;;) {
        while (os::reapAnyChild())
            continue;
        std::erase_if(
            files, [](const std::filesystem::path& file) { return os::lockHolder(file) != os::LockHolder::Somebody; });
        if (files.empty() || std::chrono::steady_clock::now() >= until)
            return files;
        std::this_thread::sleep_for(kEvery);
    }
}

namespace {

namespace capture = profiler::capture;
namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::optional<std::int64_t> rankOf(const std::map<std::string, std::string>& metadata)
{
    const auto entry = metadata.find(capture::rank_key::kRank);
    std::int64_t rank = 0;
    if (entry == metadata.end() ||
        std::from_chars(entry->second.data(), entry->second.data() + entry->second.size(), rank).ec != std::errc{})
        return std::nullopt;
    return rank;
}

/// The metadata by which a trace names its rank, from that of its process.
std::vector<std::pair<std::string, std::string>> traceMetadata(const std::map<std::string, std::string>& process)
{
    constexpr std::pair<const char*, const char*> kKeys[] = {{capture::rank_key::kRank, "rank"},
                                                             {capture::rank_key::kWorldSize, "world_size"},
                                                             {capture::rank_key::kHost, "host.name"},
                                                             {capture::rank_key::kJob, "job.id"}};
    std::vector<std::pair<std::string, std::string>> found;
    for (const auto& [from, to] : kKeys)
        if (const auto entry = process.find(from); entry != process.end() && !entry->second.empty())
            found.emplace_back(to, entry->second);
    return found;
}

/// Adds to the manifest of this machine's ranks the ranks that other machines of the job have recorded into the folder.
void addOtherMachines(Json& manifest, const Json& written)
{
    if (!written.is_object() || written.value("world_size", Json()) != manifest["world_size"])
        return;
    std::map<std::int64_t, Json> rows;
    for (const Json& row : manifest["ranks"])
        rows[row["rank"].get<std::int64_t>()] = row;
    const std::size_t own = rows.size();
    if (const auto ranks = written.find("ranks"); ranks != written.end() && ranks->is_array())
        for (const Json& row : *ranks)
            if (row.is_object() && row.value("rank", Json()).is_number_integer())
                rows.emplace(row["rank"].get<std::int64_t>(), row);
    if (rows.size() == own)
        return; // an earlier recording of the same ranks
    manifest["ranks"] = Json::array();
    for (auto& [rank, row] : rows)
        manifest["ranks"].push_back(std::move(row));
    if (const Json status = written.value("exit_status", Json()); status.is_number_integer() && status != 0) {
        manifest["exit_status"] = status;
        manifest["ended"] = written.value("ended", Json());
    }
}

/// Several machines of a job may write the file at the same time.
bool writeManifest(const fs::path& path, Json manifest)
{
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    const auto acquire = [&] { return profiler::os::LockFile::acquire(path.string() + ".lock"); };
    auto lock = acquire();
    // A file system without locks gives another error.
    while (!lock && errno == EAGAIN && std::chrono::steady_clock::now() < until) {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        if (auto next = acquire())
            lock.emplace(std::move(*next));
    }
    std::ifstream before(path);
    addOtherMachines(manifest, Json::parse(before, nullptr, false));
    std::ofstream file(path, std::ios::trunc);
    file << jsonText(manifest) << '\n';
    file.close();
    return file.good();
}

} // namespace

std::map<std::int64_t, RankParts> partsByRank(const std::vector<capture::TracePart>& parts, std::size_t least)
{
    std::map<std::int64_t, RankParts> ranks;
    std::vector<capture::TracePart> others;
    for (const capture::TracePart& part : parts) {
        auto metadata = capture::metadataOf(part);
        const auto rank = rankOf(metadata);
        if (!rank) {
            others.push_back(part);
            continue;
        }
        RankParts& own = ranks[*rank];
        own.parts.push_back(part);
        if (own.metadata.empty())
            own.metadata = std::move(metadata);
    }
    // One rank on this machine may be one of a job on several.
    const auto isOfAJob = [](const RankParts& rank) {
        const auto size = rank.metadata.find(capture::rank_key::kWorldSize);
        return size != rank.metadata.end() && size->second != "1";
    };
    if (ranks.empty() || (ranks.size() < least && !isOfAJob(ranks.begin()->second)))
        return {};
    RankParts& lowest = ranks.begin()->second;
    lowest.parts.insert(lowest.parts.end(), others.begin(), others.end());
    return ranks;
}

profiler::Result<capture::Collected> collectRanks(const std::map<std::int64_t, RankParts>& ranks,
                                                  const RankFilesOptions& options)
{
    capture::Collected all;
    Json rows = Json::array();
    std::optional<profiler::Error> error;
    bool isFirst = true;
    for (const auto& [rank, own] : ranks) {
        const fs::path file = options.folder / fmt::format("rank{}.sstrace", rank);
        capture::CollectOptions collect{
            .trace = file, .mainProcess = own.parts.front().pid, .metadata = options.metadata, .notes = {}};
        for (auto& entry : traceMetadata(own.metadata))
            collect.metadata.push_back(std::move(entry));
        if (isFirst)
            collect.notes = options.notes;
        isFirst = false;
        const auto collected = capture::collectParts(own.parts, collect);
        if (!collected) {
            error = collected.error();
            all.notes.push_back(profiler::message<"record.rank.unwritten", "rank {rank}: {why}">(
                {{"rank", rank}, {"why", error->message()}, {"error", error->what.id}}));
            continue;
        }
        capture::removeParts(own.parts);
        all.events += collected->events;
        all.dropped += collected->dropped;
        all.processes += collected->processes;
        all.notes.insert(all.notes.end(), collected->notes.begin(), collected->notes.end());
        const auto host = own.metadata.find(capture::rank_key::kHost);
        rows.push_back({{"rank", rank},
                        {"file", file.filename().string()},
                        {"host", host == own.metadata.end() ? Json(nullptr) : Json(host->second)},
                        {"process", own.parts.front().pid},
                        {"events", collected->events},
                        {"dropped", collected->dropped},
                        {"notes", messagesJson(collected->notes)}});
    }
    if (rows.empty())
        return tl::unexpected(*error);
    const auto& first = ranks.begin()->second.metadata;
    const auto size = first.find(capture::rank_key::kWorldSize);
    Json manifest = {{"schema", 1},
                     {"command", options.command},
                     {"directory", options.directory},
                     {"world_size", size == first.end() ? Json(nullptr) : Json(std::stoll(size->second))},
                     {"ranks", rows},
                     {"unrecorded_ranks", textOrNull(options.unrecorded)},
                     {"steps", textOrNull(options.steps)},
                     {"max_bytes", options.maxBytes > 0 ? Json(options.maxBytes) : Json(nullptr)},
                     {"exit_status", options.end.shellStatus()},
                     {"ended", options.end.text()}};
    if (!writeManifest(options.folder / profiler::job::kManifest, std::move(manifest)))
        all.notes.push_back(profiler::message<"record.manifest", "the manifest could not be written: {file}">(
            {{"file", (options.folder / profiler::job::kManifest).string()}}));
    return all;
}

} // namespace app::terminal
