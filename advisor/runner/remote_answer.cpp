#include "advisor/runner/remote_answer.h"

#include "advisor/runner/remote_frames.h"
#include "advisor/runner/remote_job.h"
#include "advisor/runner/shell_words.h"
#include "profiler/model/number_text.h"
#include "profiler/os/connections.h"
#include "profiler/os/files.h"
#include "profiler/os/process.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <fmt/format.h>
#include <optional>
#include <system_error>
#include <utility>

namespace advisor::runner {

namespace fs = std::filesystem;
namespace os = profiler::os;
using Clock = std::chrono::steady_clock;
using profiler::Error;
using profiler::fail;
using profiler::Result;

namespace {

constexpr int kStdin = 0, kStdout = 1;
constexpr int kCannotRun = 127;          ///< as of a shell
constexpr std::chrono::seconds kBeat{5}; ///< the far side sends something at least this often
constexpr const char* kResult = "result";
/// Reports allow no scripts and load nothing. This is how they begin, so that nothing before it can.
constexpr std::string_view kReportHead =
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">";

/// The file that comes with an answer.
class IncomingResult {
public:
    explicit IncomingResult(const RemoteRequest& request)
        : m_path(request.result), m_received(request.received), m_most(request.mostResult)
    {
    }

    Result<void> begin(std::string_view payload)
    {
        const auto file = remoteFileOf(payload);
        const fs::path expected = fs::path(remote_job::kTrace) / kResult;
        if (m_path.empty() || m_file || m_isWhole || !file || !file->name.string().starts_with(expected.string()) ||
            file->bytes > m_most)
            return refused();
        std::error_code failed;
        const fs::path parent = fs::absolute(m_path, failed).parent_path();
        if (const auto space = fs::space(parent, failed); !failed && file->bytes > space.available)
            return notWritten(ENOSPC);
        m_file = os::ReplacementFile::create(m_path);
        if (!m_file)
            return notWritten(errno);
        m_bytes = m_left = file->bytes;
        return end();
    }
    Result<void> add(std::string_view bytes)
    {
        if (!m_file || bytes.size() > m_left)
            return refused();
        if (m_path.extension() == ".html" && m_head.size() < kReportHead.size()) {
            m_head += bytes.substr(0, kReportHead.size() - m_head.size());
            if (!kReportHead.starts_with(m_head))
                return refused();
        }
        if (const int number = m_file->write(bytes); number != 0)
            return notWritten(number);
        m_left -= bytes.size();
        if (m_received)
            m_received(1 - static_cast<double>(m_left) / static_cast<double>(m_bytes));
        return end();
    }
    [[nodiscard]] bool isOpen() const { return m_file.has_value(); }

private:
    Result<void> end()
    {
        if (m_left > 0)
            return {};
        if (m_path.extension() == ".html" && m_head.size() < kReportHead.size())
            return refused();
        if (const int number = m_file->commit(); number != 0)
            return notWritten(number);
        m_file.reset();
        m_isWhole = true;
        return {};
    }
    [[nodiscard]] tl::unexpected<Error> refused() const
    {
        return fail<"remote.result", "the other machine sent a file that is not accepted">(
            Error::Code::Malformed, m_path.string(), "run the command there, and copy its file yourself");
    }
    [[nodiscard]] tl::unexpected<Error> notWritten(int number) const
    {
        return fail<"remote.result_write", "a received file cannot be written: {why}">(
            Error::Code::Io, m_path.string(), "make space on the disk, or choose another folder",
            {{"why", std::generic_category().message(number)}});
    }

    const fs::path& m_path;
    const std::function<void(double)>& m_received;
    std::uint64_t m_most;
    std::optional<os::ReplacementFile> m_file;
    std::string m_head;
    std::uint64_t m_bytes = 0, m_left = 0;
    bool m_isWhole = false;
};

/// An extension that remoteFileOf() accepts: ".json.gz".
std::string extensionOf(const fs::path& path)
{
    const std::string name = path.filename().string();
    const std::string extension = name.substr(std::min(name.find('.', 1), name.size()));
    return remoteFileOf("0 x" + extension) ? extension : path.extension().string();
}

} // namespace

Result<int> askRemote(const RemoteHost& host, const RemoteProgram& program, const RemoteRequest& request)
{
    const std::string job = newRemoteJob(program);
    std::vector<std::string> words = request.words;
    if (!request.result.empty()) {
        std::string& word = words.at(request.resultWord);
        word.replace(word.rfind(kRemoteResult), kRemoteResult.size(),
                     job + "/" + remote_job::kTrace + "/" + kResult + extensionOf(request.result));
    }
    words.insert(words.begin(), {program.program, "remote", "--action", "answer", "--job", job, "--"});
    const std::string folder = request.folder.empty() ? "" : "cd -- " + shellWord(request.folder) + " && ";
    HarmlessText output, errors;
    IncomingResult result(request);
    std::uint64_t text = 0;
    auto counted = Clock::now(); // `text` begins here
    std::optional<int> status;
    const auto take = [&](RemoteFrame type, std::string_view payload) -> Result<void> {
        if (status)
            return noRemoteFrame();
        switch (type) {
        case RemoteFrame::Output:
        case RemoteFrame::Errors:
            if (request.isEndless && Clock::now() - counted >= std::chrono::seconds(1)) {
                counted = Clock::now();
                text = 0;
            }
            text += payload.size();
            if (text > request.mostText)
                return fail<"remote.long_answer", "the answer of the other machine is longer than {most}">(
                    Error::Code::Malformed, host.name(), "ask for less: query has --limit",
                    {{"most", static_cast<double>(request.mostText), profiler::bytesText(request.mostText)}});
            if (type == RemoteFrame::Output)
                request.output(output.add(payload));
            else
                request.errors(errors.add(payload));
            return {};
        case RemoteFrame::File:
            return result.begin(payload);
        case RemoteFrame::Data:
            return result.add(payload);
        case RemoteFrame::Done:
            return result.isOpen() ? Result<void>(noRemoteFrame()) : Result<void>{};
        case RemoteFrame::Ended: {
            int number = 0;
            const auto [end, wrong] = std::from_chars(payload.data(), payload.data() + payload.size(), number);
            if (wrong != std::errc() || end != payload.data() + payload.size() || number < 0 || number > 255 ||
                result.isOpen())
                return noRemoteFrame();
            status = number;
            return {};
        }
        default:
            return noRemoteFrame();
        }
    };
    RemoteFrames frames;
    std::optional<Error> wrong;
    bool isCancelled = false;
    auto heard = Clock::now();
    const auto ran = host.run(
        folder + "exec " + commandLine(words), {},
        [&](std::string_view piece) {
            heard = Clock::now();
            if (auto added = frames.add(piece, take); !added)
                wrong = added.error();
            return !wrong && !status;
        },
        [&] {
            isCancelled = isCancelled || !request.goesOn();
            return !isCancelled && Clock::now() - heard < request.mostSilence;
        },
        true);
    if (!ran)
        return tl::unexpected(ran.error());
    if (wrong)
        return tl::unexpected(*wrong);
    request.output(output.end());
    request.errors(errors.end());
    if (status)
        return *status;
    if (isCancelled)
        return fail<"remote.stopped", "cancelled">(Error::Code::Cancelled, host.name());
    if (!frames.hasBegun())
        return tl::unexpected(unreachable(host, *ran));
    return fail<"remote.answer_lost", "the connection was lost before the answer was complete">(
        Error::Code::Unavailable, host.name(),
        "check the connection, and run the command again; docker exec and kubectl exec need -i");
}

namespace {

bool send(RemoteFrame type, std::string_view payload)
{
    return os::writeAll(kStdout, encodeFrame(type, payload)).error == 0;
}

/// Sends what a program has written, in frames. @return false if the connection is closed
bool sendAll(RemoteFrame type, std::string& text)
{
    for (std::string_view rest = text; !rest.empty();
         rest.remove_prefix(std::min<std::size_t>(rest.size(), kMostFrameBytes)))
        if (!send(type, rest.substr(0, kMostFrameBytes)))
            return false;
    text.clear();
    return true;
}

/// Runs the command until it or the connection ends. @return its exit status; nullopt if the connection has ended
std::optional<int> runAndSend(const std::vector<std::string>& words)
{
    auto output = os::makePipe(), errors = os::makePipe();
    std::error_code failed;
    const std::string program = fs::read_symlink("/proc/self/exe", failed).string();
    std::vector<std::string> command = words;
    command.insert(command.begin(), program);
    const auto child = output && errors ? os::startChild({.program = program,
                                                          .words = command,
                                                          .hasInput = false,
                                                          .output = output->writing.get(),
                                                          .errors = errors->writing.get(),
                                                          .endsWithThread = true})
                                        : std::nullopt;
    if (!child)
        return kCannotRun;
    output->writing.reset();
    errors->writing.reset();
    os::setNonBlocking(output->reading.get());
    os::setNonBlocking(errors->reading.get());
    bool hasOutput = true, hasErrors = true, isConnected = true;
    std::string text, ignored;
    auto sent = Clock::now();
    while (isConnected && (hasOutput || hasErrors)) {
        std::array awaited{os::Awaited{hasOutput ? output->reading.get() : -1},
                           os::Awaited{hasErrors ? errors->reading.get() : -1}, os::Awaited{kStdin}};
        os::waitForAny(awaited, kBeat);
        const auto pass = [&](int from, RemoteFrame type, bool& isOpen) {
            isOpen = isOpen && os::readAvailable(from, text);
            if (!text.empty())
                sent = Clock::now();
            return sendAll(type, text);
        };
        isConnected = pass(output->reading.get(), RemoteFrame::Output, hasOutput) &&
                      pass(errors->reading.get(), RemoteFrame::Errors, hasErrors);
        if (awaited[2].isReady)
            isConnected = os::readNext(kStdin, ignored) && isConnected;
        ignored.clear();
        if (isConnected && Clock::now() - sent >= kBeat) {
            sent = Clock::now();
            isConnected = send(RemoteFrame::Errors, {}); // shows that the connection works
        }
    }
    if (!isConnected)
        os::sendSignal(*child, SIGKILL);
    const auto end = os::waitForChild(*child);
    return isConnected ? std::optional(end ? end->shellStatus() : kCannotRun) : std::nullopt;
}

} // namespace

int answerRemotely(const fs::path& job, const std::vector<std::string>& words)
{
    // The end of standard input is what ends this process: nothing stays behind.
    for (const int number : {SIGINT, SIGTERM, SIGHUP})
        std::signal(number, SIG_IGN);
    std::error_code failed;
    fs::create_directories(job / remote_job::kTrace, failed);
    const bool hasBegun = os::writeAll(kStdout, kRemoteBegin).error == 0;
    const auto status = hasBegun ? runAndSend(words) : std::nullopt;
    const bool isSent = status && sendJobFiles(job);
    fs::remove_all(job, failed); // before the other side closes the connection
    return isSent && send(RemoteFrame::Ended, std::to_string(*status)) ? 0 : 1;
}

} // namespace advisor::runner
