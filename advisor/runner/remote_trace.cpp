#include "advisor/runner/remote_trace.h"

#include "advisor/runner/remote_frames.h"
#include "advisor/runner/shell_words.h"
#include "profiler/os/connections.h"
#include "profiler/os/files.h"
#include "profiler/os/process.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <filesystem>
#include <fmt/format.h>
#include <mutex>
#include <stop_token>
#include <system_error>
#include <unordered_set>
#include <utility>
#include <vector>

namespace advisor::runner {

namespace os = profiler::os;
using Clock = std::chrono::steady_clock;
using profiler::Error;
using profiler::fail;
using profiler::Result;

namespace {

/// A block of a trace has a few hundred KB: it takes at most a few round trips, and little is fetched in vain.
constexpr std::uint64_t kPiece = 256 << 10;
static_assert(kPiece <= kMostFrameBytes);
/// Requests that are on their way at a time: with 50 ms to the other machine, enough for 40 MB/s.
constexpr std::size_t kMostOnTheWay = 8;
/// More is not believed.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 44;
constexpr std::chrono::milliseconds kLook{100};
/// Time without an answer after which the connection counts as lost.
constexpr std::chrono::seconds kMostSilence{30};
constexpr std::size_t kMostErrors = 8192;

/// The end of a client's process. A client that does not end by itself is ended.
void end(RemoteLink& link)
{
    link.input.reset();
    link.output.reset();
    os::sendSignal(link.process, SIGTERM);
    for (int i = 0; i < 20; ++i) {
        if (os::reapChild(link.process))
            return;
        std::this_thread::sleep_for(kLook / 2);
    }
    os::sendSignal(link.process, SIGKILL);
    static_cast<void>(os::waitForChild(link.process)); // however it ended
}

/// The reply of the far side about an open trace.
struct Opened {
    std::uint64_t bytes = 0;
    std::string name; ///< of its contents
};

std::optional<Opened> openedOf(std::string_view payload)
{
    Opened opened;
    const char* const last = payload.data() + payload.size();
    const auto [rest, wrong] = std::from_chars(payload.data(), last, opened.bytes);
    if (wrong != std::errc() || rest == last || *rest != ' ' || opened.bytes > kMostBytes || payload.size() > 200)
        return std::nullopt;
    opened.name.assign(rest + 1, last);
    return opened;
}

} // namespace

struct RemoteTrace::Connection {
    explicit Connection(std::shared_ptr<const RemoteHost> there) : host(std::move(there)) {}

    Result<Opened> connect(const Opening& opening);
    void start()
    {
        thread = std::jthread([this](const std::stop_token& stop) { serve(stop); });
    }
    void serve(const std::stop_token& stop);
    void lose(Error error);
    [[nodiscard]] Error lost() const
    {
        return profiler::makeError<"remote.trace_lost", "the connection to the other machine was lost">(
            Error::Code::Unavailable, host->name(), "connect again");
    }
    Result<void> take(RemoteFrame type, std::string_view payload);
    Result<void> request();
    [[nodiscard]] std::uint64_t lengthOf(std::uint64_t piece) const
    {
        return std::min(kPiece, opened.bytes - piece * kPiece);
    }
    void want(std::uint64_t piece);

    std::shared_ptr<const RemoteHost> host;
    std::string path;
    RemoteProgram program;
    Opened opened;
    os::Descriptor cache; ///< the pieces at their positions
    RemoteLink link;
    RemoteFrames frames;
    std::string errors;
    os::Pipe wake; ///< a byte for each wanted piece, while the connection's thread waits

    mutable std::mutex mutex; ///< guards what follows; held only briefly
    std::condition_variable changed;
    State state = State::Lost;
    std::optional<Error> whyLost;
    std::unordered_set<std::uint64_t> here;
    std::unordered_set<std::uint64_t> asked; ///< wanted, or on their way
    std::deque<std::uint64_t> wanted, onTheWay;
    std::uint64_t fetched = 0;
    std::thread::id impatient;

    std::mutex starting; ///< guards `thread`; taken before `mutex`
    std::jthread thread; ///< last: it uses the others
};

/// Starts the far side, and waits until it has opened the trace.
Result<Opened> RemoteTrace::Connection::connect(const Opening& opening)
{
    const auto set = setUpRemoteProgram(
        *host, {.folder = {}, .environment = {}, .command = {}},
        [&](std::uint64_t bytes) {
            if (opening.uploading)
                opening.uploading(bytes);
        },
        opening.goesOn);
    if (!set)
        return tl::unexpected(set.error());
    program = *set;
    auto started = host->start("exec " + commandLine({program.program, "remote", "--action", "serve", "--cache",
                                                      program.root + "/traces", "--", path}));
    if (!started)
        return tl::unexpected(started.error());
    link = std::move(*started);
    frames = {};
    errors.clear();
    std::optional<Opened> found;
    std::optional<Error> wrong;
    const auto takeOne = [&](RemoteFrame type, std::string_view payload) -> Result<void> {
        if (type == RemoteFrame::Opened && !found) {
            found = openedOf(payload);
            return found ? Result<void>{} : noRemoteFrame();
        }
        if (type == RemoteFrame::Failed)
            return fail<"remote.trace", "the other machine cannot open the trace: {why}">(
                Error::Code::NotFound, host->name(), {}, {{"why", harmlessText(payload)}});
        if (type == RemoteFrame::Ranks && !found)
            return fail<"remote.ranks", "the path is a folder or a pattern, not a trace">(
                Error::Code::Unsupported, host->name() + ":" + path, "open it as a job");
        double share = 0;
        if (type != RemoteFrame::Progress || found ||
            std::from_chars(payload.data(), payload.data() + payload.size(), share).ec != std::errc())
            return noRemoteFrame();
        if (opening.converting)
            opening.converting(std::clamp(share, 0.0, 1.0));
        return {};
    };
    auto heard = Clock::now();
    bool isOpen = true;
    while (isOpen && !found && !wrong) {
        os::waitForAny(std::array{link.output.get(), link.errors.get()}, kLook);
        std::string bytes;
        isOpen = os::readAvailable(link.output.get(), bytes);
        if (link.errors && !os::readAvailable(link.errors.get(), errors))
            link.errors.reset(); // closed: always readable
        errors.erase(0, errors.size() - std::min(errors.size(), kMostErrors));
        if (!bytes.empty())
            heard = Clock::now();
        if (auto added = frames.add(bytes, takeOne); !added)
            wrong = added.error();
        else if (!opening.goesOn())
            wrong = profiler::makeError<"remote.open_cancelled", "opening the trace was cancelled">(
                Error::Code::Cancelled, host->name());
        else if (!found && Clock::now() - heard > kMostSilence)
            wrong = profiler::makeError<"remote.silent", "the other machine does not answer">(
                Error::Code::Unavailable, host->name(), "check the connection, and try again");
    }
    if (found)
        return *found;
    RemoteHost::Ran ran{.end = {}, .errors = errors};
    end(link);
    return tl::unexpected(wrong ? *wrong : unreachable(*host, ran));
}

/// @note call with the mutex
void RemoteTrace::Connection::want(std::uint64_t piece)
{
    if (here.contains(piece) || !asked.insert(piece).second)
        return;
    wanted.push_back(piece);
    os::writeAll(wake.writing.get(), "w"); // a full pipe wakes as well
}

Result<void> RemoteTrace::Connection::take(RemoteFrame type, std::string_view payload)
{
    if (type == RemoteFrame::Failed)
        return fail<"remote.trace_failed", "the other machine can no longer read the trace: {why}">(
            Error::Code::Io, host->name(), "open it again", {{"why", harmlessText(payload)}});
    std::uint64_t piece = 0;
    {
        const std::lock_guard lock(mutex);
        if (type != RemoteFrame::Data || onTheWay.empty() || payload.size() != lengthOf(onTheWay.front()))
            return noRemoteFrame();
        piece = onTheWay.front();
    }
    const auto written =
        os::writeAllAt(cache.get(), piece * kPiece, std::as_bytes(std::span(payload.data(), payload.size())));
    if (written.error != 0)
        return fail<"remote.piece", "a transferred part of the trace cannot be stored on this machine: {why}">(
            Error::Code::NoSpace, std::filesystem::temp_directory_path().string(), "make space on the disk",
            {{"why", std::generic_category().message(written.error)}});
    const std::lock_guard lock(mutex);
    onTheWay.pop_front();
    asked.erase(piece);
    here.insert(piece);
    fetched += payload.size();
    changed.notify_all();
    return {};
}

/// Sends requests for what is wanted.
Result<void> RemoteTrace::Connection::request()
{
    std::string lines;
    {
        const std::lock_guard lock(mutex);
        while (!wanted.empty() && onTheWay.size() < kMostOnTheWay) {
            const std::uint64_t piece = wanted.front();
            wanted.pop_front();
            onTheWay.push_back(piece);
            lines += fmt::format("{} {}\n", piece * kPiece, lengthOf(piece));
        }
    }
    // Eight short lines fit into the pipe, unless the client does not read at all.
    if (!lines.empty() && os::writeAll(link.input.get(), lines).error != 0)
        return tl::unexpected(lost());
    return {};
}

void RemoteTrace::Connection::lose(Error error)
{
    const std::lock_guard lock(mutex);
    if (state == State::Connected)
        state = State::Lost;
    whyLost = std::move(error);
    wanted.clear();
    onTheWay.clear();
    asked.clear();
    changed.notify_all();
}

void RemoteTrace::Connection::serve(const std::stop_token& stop)
{
    auto heard = Clock::now();
    std::optional<Error> wrong;
    while (!stop.stop_requested() && !wrong) {
        bool isWaiting = false;
        {
            const std::lock_guard lock(mutex);
            isWaiting = !onTheWay.empty();
            if (state == State::Closed)
                break;
        }
        heard = isWaiting ? heard : Clock::now();
        if (auto requested = request(); !requested) {
            wrong = requested.error();
            break;
        }
        std::array awaited{link.output.get(), link.errors.get(), wake.reading.get()};
        os::waitForAny(awaited, kLook);
        std::string bytes, woken;
        const bool isOpen = os::readAvailable(link.output.get(), bytes);
        if (link.errors && !os::readAvailable(link.errors.get(), errors))
            link.errors.reset(); // closed: always readable
        errors.erase(0, errors.size() - std::min(errors.size(), kMostErrors));
        os::readAvailable(wake.reading.get(), woken);
        if (!bytes.empty())
            heard = Clock::now();
        if (auto added =
                frames.add(bytes, [this](RemoteFrame type, std::string_view payload) { return take(type, payload); });
            !added)
            wrong = added.error();
        else if (!isOpen || Clock::now() - heard > kMostSilence)
            wrong = lost();
    }
    end(link);
    lose(wrong.value_or(lost()));
}

RemoteTrace::RemoteTrace(std::unique_ptr<Connection> connection) : m(std::move(connection)) {}

RemoteTrace::~RemoteTrace()
{
    close();
    const std::lock_guard starting(m->starting);
    m->thread = {}; // waits
}

Result<std::shared_ptr<RemoteTrace>> RemoteTrace::open(std::shared_ptr<const RemoteHost> host, const std::string& path,
                                                       const Opening& opening)
{
    // A client that ends must not end this program. Children get the default back.
    std::signal(SIGPIPE, SIG_IGN);
    auto connection = std::make_unique<Connection>(std::move(host));
    connection->path = path;
    auto wake = os::makePipe();
    connection->cache = os::openUnnamed(std::filesystem::temp_directory_path());
    if (!wake || !connection->cache)
        return fail<"remote.no_cache", "no temporary file can be created: {why}">(
            Error::Code::Io, std::filesystem::temp_directory_path().string(), "make space on the disk, or set TMPDIR",
            {{"why", std::generic_category().message(errno)}});
    os::setNonBlocking(wake->reading.get());
    os::setNonBlocking(wake->writing.get());
    connection->wake = std::move(*wake);
    auto opened = connection->connect(opening);
    if (!opened)
        return tl::unexpected(opened.error());
    connection->opened = *std::move(opened);
    connection->state = State::Connected;
    connection->start();
    return std::shared_ptr<RemoteTrace>(new RemoteTrace(std::move(connection)));
}

Result<void> RemoteTrace::reconnect(const Opening& opening)
{
    if (state() != State::Lost)
        return {};
    {
        const std::lock_guard starting(m->starting);
        m->thread = {}; // it has ended, or is about to
    }
    auto opened = m->connect(opening);
    if (!opened)
        return tl::unexpected(opened.error());
    if (opened->bytes != m->opened.bytes || opened->name != m->opened.name) {
        end(m->link);
        return fail<"remote.trace_changed", "the trace on the other machine has changed">(
            Error::Code::Invalid, m->host->name() + ":" + m->path, "open it again");
    }
    const std::lock_guard starting(m->starting);
    const std::lock_guard lock(m->mutex);
    if (m->state == State::Closed) {
        end(m->link);
        return {};
    }
    m->state = State::Connected;
    m->whyLost.reset();
    m->start();
    return {};
}

void RemoteTrace::close()
{
    const std::lock_guard lock(m->mutex);
    m->state = State::Closed;
    m->changed.notify_all();
    os::writeAll(m->wake.writing.get(), "w");
}

std::uint64_t RemoteTrace::size() const
{
    return m->opened.bytes;
}

Result<std::size_t> RemoteTrace::read(std::uint64_t offset, std::span<std::byte> into) const
{
    if (offset >= size() || into.empty())
        return 0;
    const std::size_t bytes = std::min<std::uint64_t>(into.size(), size() - offset);
    const std::uint64_t first = offset / kPiece, last = (offset + bytes - 1) / kPiece;
    {
        std::unique_lock lock(m->mutex);
        const auto isHere = [&] {
            for (std::uint64_t piece = first; piece <= last; ++piece)
                if (!m->here.contains(piece))
                    return false;
            return true;
        };
        if (!isHere()) {
            if (m->state != State::Connected)
                return tl::unexpected(m->lost());
            for (std::uint64_t piece = first; piece <= last; ++piece)
                m->want(piece);
            if (std::this_thread::get_id() == m->impatient)
                return fail<"remote.not_here", "a part of the trace is still being transferred">(
                    Error::Code::Unavailable, m->host->name());
            m->changed.wait(lock, [&] { return m->state != State::Connected || isHere(); });
            if (!isHere())
                return tl::unexpected(m->lost());
        }
    }
    const auto read = os::readAt(m->cache.get(), offset, into.first(bytes));
    if (read.error != 0 || read.bytes < bytes)
        return fail<"remote.piece_lost", "a transferred part of the trace cannot be read again: {why}">(
            Error::Code::Io, m->host->name(), "open the trace again",
            {{"why", std::generic_category().message(read.error)}});
    return bytes;
}

void RemoteTrace::setImpatient(std::thread::id thread)
{
    const std::lock_guard lock(m->mutex);
    m->impatient = thread;
}

RemoteTrace::State RemoteTrace::state() const
{
    const std::lock_guard lock(m->mutex);
    return m->state;
}

std::optional<Error> RemoteTrace::whyLost() const
{
    const std::lock_guard lock(m->mutex);
    return m->whyLost;
}

std::uint64_t RemoteTrace::fetched() const
{
    const std::lock_guard lock(m->mutex);
    return m->fetched;
}

const RemoteHost& RemoteTrace::host() const
{
    return *m->host;
}

const RemoteProgram& RemoteTrace::program() const
{
    return m->program;
}

} // namespace advisor::runner
