#include "advisor/runner/remote_job.h"

#include "advisor/runner/remote_frames.h"
#include "profiler/os/connections.h"
#include "profiler/os/files.h"
#include "profiler/os/process.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fmt/format.h>
#include <fstream>
#include <optional>
#include <sstream>
#include <system_error>
#include <thread>

namespace advisor::runner {

namespace fs = std::filesystem;
namespace os = profiler::os;
using namespace remote_job;
using Clock = std::chrono::steady_clock;

namespace {

constexpr int kStdout = 1;
constexpr int kCannotRun = 127, kLost = 137; ///< exit statuses, as of a shell
constexpr std::chrono::milliseconds kLook{50};
// An empty frame shows that the link works; writing it fails if the other side is gone.
constexpr std::chrono::seconds kBeat{5};
// The recorder writes the trace after the command has ended: hundreds of MB take seconds.
constexpr std::chrono::seconds kToInterrupt{15}, kToTerminate{30};

bool send(RemoteFrame type, std::string_view payload)
{
    return os::writeAll(kStdout, encodeFrame(type, payload)).error == 0;
}

bool begin()
{
    return os::writeAll(kStdout, kRemoteBegin).error == 0;
}

std::optional<long> numberIn(const fs::path& file)
{
    const auto text = os::readFile(file, 64);
    long number = 0;
    if (!text || std::from_chars(text->data(), text->data() + text->size(), number).ec != std::errc())
        return std::nullopt;
    return number;
}

bool writeNumber(const fs::path& file, long number)
{
    const fs::path part = file.string() + ".part";
    std::ofstream(part) << number << '\n';
    std::error_code failed;
    fs::rename(part, file, failed);
    return !failed;
}

/// Sends what a file contains from `at` on. @return false if the connection is closed
bool sendFrom(const fs::path& path, RemoteFrame type, std::uint64_t& at)
{
    const os::Descriptor file = os::openToRead(path);
    std::string piece(kMostFrameBytes, '\0');
    while (file) {
        const auto read = os::readAt(file.get(), at, std::as_writable_bytes(std::span(piece)));
        if (read.bytes == 0)
            break;
        if (!send(type, std::string_view(piece).substr(0, read.bytes)))
            return false;
        at += read.bytes;
    }
    return true;
}

/// Processes of the job, by their environment: daemons have left its process group and its session.
std::vector<os::ProcessId> processesOf(const fs::path& job)
{
    const std::string wanted = fmt::format("{}={}", kVariable, job.string());
    std::vector<os::ProcessId> found;
    std::error_code failed;
    for (auto entry = fs::directory_iterator("/proc", failed); !failed && entry != fs::directory_iterator();
         entry.increment(failed)) {
        const std::string name = entry->path().filename().string();
        os::ProcessId process = 0;
        const auto [rest, error] = std::from_chars(name.data(), name.data() + name.size(), process);
        if (error != std::errc() || rest != name.data() + name.size() || process == os::processId())
            continue;
        const auto environment = os::readFile(entry->path() / "environ");
        // Variables are separated by zeros.
        for (std::size_t at = 0; environment && at < environment->size();) {
            const std::size_t end = std::min(environment->find('\0', at), environment->size());
            if (environment->compare(at, end - at, wanted) == 0) {
                found.push_back(process);
                break;
            }
            at = end + 1;
        }
    }
    return found;
}

/// The process group; 0 if the process is gone. The name of a program, in parentheses, may contain anything.
long groupOf(os::ProcessId process)
{
    const auto text = os::readFile(fmt::format("/proc/{}/stat", process));
    std::istringstream fields(text ? text->substr(std::min(text->size(), text->rfind(')') + 1)) : "");
    std::string state;
    long parent = 0, group = 0;
    fields >> state >> parent >> group;
    return group;
}

/// Sends a signal as a terminal does: to all processes of the command that have not left their process group. Not to
/// the recorder, which would pass it on a second time.
bool signalCommand(const fs::path& job, os::ProcessId recorder, int number)
{
    const long group = groupOf(recorder);
    bool isSent = false;
    for (const os::ProcessId process : processesOf(job))
        if (process != recorder && process != group && groupOf(process) == group) // the first is the supervisor
            isSent = os::sendSignal(process, number) || isSent;
    return isSent || os::sendSignal(recorder, number);
}

bool hasEnded(const fs::path& job)
{
    std::error_code ignored;
    return fs::exists(job / kStatus, ignored);
}

/// Waits for the status. @return whether it is there
bool waitForEnd(const fs::path& job, std::chrono::seconds atMost)
{
    const auto until = Clock::now() + atMost;
    while (!hasEnded(job) && Clock::now() < until)
        std::this_thread::sleep_for(kLook);
    return hasEnded(job);
}

} // namespace

int superviseRemoteJob(const fs::path& job, const std::vector<std::string>& command)
{
    // A shell without a terminal starts programs in the background with these ignored, and Python would then ignore an
    // interrupt, too.
    for (const int signal : {SIGINT, SIGQUIT, SIGHUP})
        std::signal(signal, SIG_DFL);
    ::setenv(kVariable, job.c_str(), 1);
    const auto child = os::startChild({.program = command.front(), .words = command});
    const bool isKnown = child && writeNumber(job / kPid, *child);
    for (const int signal : {SIGINT, SIGQUIT, SIGHUP})
        std::signal(signal, SIG_IGN); // the recorder's end is its own
    const auto end = child ? os::waitForChild(*child) : std::nullopt;
    writeNumber(job / kStatus, end ? end->shellStatus() : kCannotRun);
    return isKnown ? 0 : 1;
}

int followRemoteJob(const fs::path& job, std::uint64_t output, std::uint64_t errors)
{
    if (!begin())
        return 1;
    auto beat = Clock::now();
    int gone = 0; // how often the command was found to be gone without a status
    for (;;) {
        const bool isOver = hasEnded(job);
        const std::uint64_t before = output + errors;
        if (!sendFrom(job / kOutput, RemoteFrame::Output, output) ||
            !sendFrom(job / kErrors, RemoteFrame::Errors, errors))
            return 1;
        if (isOver)
            return send(RemoteFrame::Ended, std::to_string(numberIn(job / kStatus).value_or(kLost))) ? 0 : 1;
        const auto process = numberIn(job / kPid);
        // In looks: the supervisor writes the status at once; starting it may take time.
        constexpr int kCertain = 40, kNotStarted = 1200;
        gone = !process || !os::sendSignal(static_cast<os::ProcessId>(*process), 0) ? gone + 1 : 0;
        if (gone >= (process ? kCertain : kNotStarted))
            return send(RemoteFrame::Ended, std::to_string(kLost)) ? 0 : 1;
        const auto now = Clock::now();
        if (output + errors != before)
            beat = now;
        else if (now - beat >= kBeat) {
            beat = now;
            if (!send(RemoteFrame::Errors, {}))
                return 1;
        }
        std::this_thread::sleep_for(kLook);
    }
}

int sendRemoteFiles(const fs::path& job)
{
    return begin() && sendJobFiles(job) ? 0 : 1;
}

bool sendJobFiles(const fs::path& job)
{
    std::vector<fs::path> files{job / kReport};
    std::error_code failed;
    constexpr auto kOptions = fs::directory_options::skip_permission_denied;
    for (auto entry = fs::recursive_directory_iterator(job / kTrace, kOptions, failed);
         !failed && entry != fs::recursive_directory_iterator(); entry.increment(failed)) {
        std::error_code ignored;
        if (entry->is_regular_file(ignored) && !entry->is_symlink(ignored))
            files.push_back(entry->path());
    }
    std::sort(files.begin() + 1, files.end());
    for (const fs::path& path : files) {
        const os::Descriptor file = os::openToRead(path);
        const auto state = file ? os::stateOf(file.get()) : std::nullopt;
        if (!state)
            continue; // no report
        if (!send(RemoteFrame::File, fmt::format("{} {}", state->bytes, path.lexically_relative(job).string())))
            return false;
        std::string piece(kMostFrameBytes, '\0');
        for (std::uint64_t at = 0; at < state->bytes;) {
            const std::size_t wanted = std::min<std::uint64_t>(piece.size(), state->bytes - at);
            const auto read = os::readAt(file.get(), at, std::as_writable_bytes(std::span(piece.data(), wanted)));
            if (read.bytes == 0 || !send(RemoteFrame::Data, std::string_view(piece).substr(0, read.bytes)))
                return false;
            at += read.bytes;
        }
    }
    return send(RemoteFrame::Done, {});
}

int stopRemoteJob(const fs::path& job, bool isUrgent)
{
    const auto process = numberIn(job / kPid);
    const auto signal = [&](int number) {
        return process && signalCommand(job, static_cast<os::ProcessId>(*process), number);
    };
    const bool isOver = hasEnded(job) || (!isUrgent && ((signal(SIGINT) && waitForEnd(job, kToInterrupt)) ||
                                                        (signal(SIGTERM) && waitForEnd(job, kToTerminate))));
    // Processes that the command left running, or all of them.
    for (int round = 0; round < 20; ++round) {
        const auto left = processesOf(job);
        if (left.empty())
            break;
        for (const os::ProcessId one : left)
            os::sendSignal(one, SIGKILL);
        std::this_thread::sleep_for(kLook);
    }
    if (!isOver && !hasEnded(job))
        writeNumber(job / kStatus, kLost);
    return begin() && send(RemoteFrame::Done, {}) ? 0 : 1;
}

} // namespace advisor::runner
