#include "app/terminal/remote_watch.h"

#include "advisor/runner/remote_answer.h"
#include "advisor/runner/remote_frames.h"
#include "advisor/runner/remote_host.h"
#include "advisor/runner/remote_setup.h"
#include "app/terminal/interrupt.h"
#include "app/terminal/remote_command.h"
#include "profiler/model/number_text.h"
#include "profiler/os/connections.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace app::terminal {

namespace {

namespace monitor = profiler::monitor;
namespace runner = advisor::runner;
using monitor::RankState;
using monitor::RankStatus;
using profiler::Error;
using profiler::Nanoseconds;
using profiler::Result;

// A rank has about 700 bytes.
constexpr std::uint64_t kMostLine = 16 << 20;
constexpr std::size_t kMostRows = 20'000; ///< ranks, or captures
constexpr int kMostDoubled = 5;           ///< 1, 2, 4 … seconds until the next attempt, at most 32

std::int64_t integerIn(const nlohmann::json& row, const char* key, std::int64_t other = 0)
{
    const auto found = row.find(key);
    return found != row.end() && found->is_number_integer() ? found->get<std::int64_t>() : other;
}

/// A time or a rate: finite and not negative.
double amountIn(const nlohmann::json& row, const char* key)
{
    const auto found = row.find(key);
    const double value = found != row.end() && found->is_number() ? found->get<double>() : 0;
    return std::isfinite(value) ? std::max(value, 0.0) : 0;
}

std::optional<double> optionalIn(const nlohmann::json& row, const char* key)
{
    const auto found = row.find(key);
    const bool isNumber = found != row.end() && found->is_number() && std::isfinite(found->get<double>());
    return isNumber ? std::optional(found->get<double>()) : std::nullopt;
}

std::string textIn(const nlohmann::json& row, const char* key)
{
    const auto found = row.find(key);
    if (found == row.end() || !found->is_string())
        return {};
    std::string text = runner::harmlessText(found->get_ref<const std::string&>());
    std::ranges::replace(text, '\n', '?'); // a table counts on one line per row
    return text;
}

RankStatus rankIn(const nlohmann::json& row)
{
    RankStatus rank;
    rank.rank = integerIn(row, "rank");
    rank.worldSize = integerIn(row, "world_size", 1);
    rank.pid = integerIn(row, "pid");
    rank.host = textIn(row, "host");
    rank.file = textIn(row, "file");
    const std::string state = textIn(row, "state");
    for (const RankState one : {RankState::Alive, RankState::Ended, RankState::Killed})
        if (monitor::stateName(one) == state)
            rank.state = one;
    rank.steps = std::max<std::int64_t>(integerIn(row, "steps"), 0);
    rank.lastIndex = std::max<std::int64_t>(integerIn(row, "last_index", -1), -1);
    rank.lastEnd = Nanoseconds(std::max<std::int64_t>(integerIn(row, "last_end_ns"), 0));
    rank.recent = static_cast<std::size_t>(std::max<std::int64_t>(integerIn(row, "recent_steps"), 0));
    rank.lastUs = amountIn(row, "last_us");
    rank.p50Us = amountIn(row, "p50_us");
    rank.p99Us = amountIn(row, "p99_us");
    if (const auto parts = row.find("parts"); parts != row.end() && parts->is_object())
        for (std::size_t part = 0; part < rank.partUs.size(); ++part)
            rank.partUs[part] = amountIn(*parts, (std::string(monitor::kStepParts[part]) + "_us").c_str());
    rank.outsideUs = amountIn(row, "outside_us");
    rank.stepsPerSecond = amountIn(row, "steps_per_s");
    rank.samplesPerSecond = optionalIn(row, "samples_per_s");
    rank.lateUs = optionalIn(row, "late_us");
    return rank;
}

struct Seen {
    monitor::RecordingStatus status;
    Nanoseconds now{}; ///< there, since 1970
};

/// A line of `watch --json`. nullopt if it is none.
std::optional<Seen> stateIn(std::string_view line)
{
    const auto json = nlohmann::json::parse(line, nullptr, false);
    if (!json.is_object() || !json.contains("ranks") || !json["ranks"].is_array() || json["ranks"].size() > kMostRows)
        return std::nullopt;
    Seen seen;
    seen.now = Nanoseconds(std::max<std::int64_t>(integerIn(json, "now_ns"), 0));
    seen.status.isAlwaysOn = json.contains("always_on") && json["always_on"] == true;
    for (const auto& row : json["ranks"]) {
        if (!row.is_object())
            return std::nullopt;
        seen.status.ranks.push_back(rankIn(row));
    }
    if (const auto captures = json.find("captures"); captures != json.end() && captures->is_array())
        for (const auto& row : *captures)
            if (row.is_object() && seen.status.captures.size() < kMostRows)
                seen.status.captures.push_back(
                    {.name = textIn(row, "name"),
                     .traces = static_cast<std::size_t>(std::max<std::int64_t>(integerIn(row, "traces"), 0)),
                     .bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(integerIn(row, "bytes"), 0))});
    return seen;
}

/// Waits, and returns false after Ctrl-C.
bool pause(std::chrono::seconds time)
{
    constexpr std::chrono::milliseconds kPiece{50};
    const auto until = std::chrono::steady_clock::now() + time;
    while (interrupts() == 0 && std::chrono::steady_clock::now() < until)
        std::this_thread::sleep_for(kPiece);
    return interrupts() == 0;
}

class Watching {
public:
    Watching(const WatchOptions& options, const ShowStatus& show, const Streams& streams)
        : m_options(options), m_show(show), m_streams(streams)
    {
    }

    int run()
    {
        auto host = hostOf(m_options.machine);
        if (!host)
            return report(host.error(), kWrongUsage);
        const auto goesOn = [] { return interrupts() == 0; };
        const auto program = runner::setUpRemoteProgram(
            *host, {.folder = m_options.machine.folder, .environment = {}, .command = {}},
            [&](std::uint64_t bytes) {
                m_streams.err << fmt::format("stepscope-cli watch: uploading Stepscope's program ({}) to {}\n",
                                             profiler::bytesText(bytes), host->name());
            },
            goesOn);
        if (!program)
            return report(program.error());
        for (;;) {
            const auto status = follow(*host, *program);
            if (m_wrong)
                return report(*m_wrong);
            if (!profiler::os::hasReader(1))
                return kDone;
            if (status)
                return *status;
            const bool canReturn = m_hasShown && status.error().code == Error::Code::Unavailable;
            if (interrupts() > 0)
                return kInterrupted;
            if (!canReturn)
                return report(status.error());
            m_streams.err << fmt::format("stepscope-cli watch: the connection to {} was lost; connecting again\n",
                                         host->name());
            if (!pause(std::chrono::seconds(1 << std::min(m_attempts++, kMostDoubled))))
                return kInterrupted;
        }
    }

private:
    /// Until the recording or the connection ends.
    Result<int> follow(const runner::RemoteHost& host, const runner::RemoteProgram& program)
    {
        m_line.clear();
        runner::RemoteRequest request;
        request.words = {"watch", "--json", fmt::format("--interval={}", m_options.interval.count()), "--",
                         m_options.place.string()};
        request.folder = m_options.machine.folder;
        request.isEndless = true;
        request.mostText = kMostLine;
        request.output = [this](std::string_view text) { take(text); };
        request.errors = [this](std::string_view text) { m_streams.err << text << std::flush; };
        request.goesOn = [this] { return interrupts() == 0 && !m_wrong && profiler::os::hasReader(1); };
        return runner::askRemote(host, program, request);
    }

    void take(std::string_view text)
    {
        m_line += text;
        std::size_t begin = 0;
        for (std::size_t end = m_line.find('\n'); end != std::string::npos && !m_wrong;
             end = m_line.find('\n', begin)) {
            takeLine(std::string_view(m_line).substr(begin, end - begin));
            begin = end + 1;
        }
        m_line.erase(0, begin);
        if (m_line.size() > kMostLine)
            refuse();
    }

    void takeLine(std::string_view line)
    {
        const auto seen = stateIn(line);
        if (!seen)
            return refuse();
        m_hasShown = true;
        m_attempts = 0;
        if (const auto shown = m_show(seen->status, seen->now); !shown)
            m_wrong = shown.error();
    }

    void refuse()
    {
        m_wrong = profiler::makeError<"watch.answer", "the state that the other machine sent is malformed">(
            Error::Code::Malformed, m_options.place.string(), "check that both versions of Stepscope are the same");
    }

    int report(const Error& error, int status = kBadInput)
    {
        m_streams.err << "stepscope-cli watch: " << error.message() << '\n';
        return error.code == Error::Code::Cancelled ? kInterrupted : status;
    }

    const WatchOptions& m_options;
    const ShowStatus& m_show;
    const Streams& m_streams;
    std::string m_line; ///< the beginning of an incomplete one
    std::optional<Error> m_wrong;
    bool m_hasShown = false; ///< the place can be reached, and the recording can be read
    int m_attempts = 0;      ///< since the last state
};

} // namespace

int watchRemotely(const WatchOptions& options, const ShowStatus& show, const Streams& streams)
{
    return Watching(options, show, streams).run();
}

} // namespace app::terminal
