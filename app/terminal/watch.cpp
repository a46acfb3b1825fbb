#include "advisor/runner/shell_words.h"
#include "app/terminal/commands.h"
#include "app/terminal/interrupt.h"
#include "app/terminal/output.h"
#include "app/terminal/remote_watch.h"
#include "profiler/model/number_text.h"
#include "profiler/monitor/recording_watch.h"
#include "profiler/os/connections.h"
#include "profiler/os/files.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <ctime>
#include <string>
#include <system_error>
#include <thread>

namespace app::terminal {

using namespace profiler::monitor;
using namespace advisor;

namespace {

namespace fs = std::filesystem;
namespace monitor = profiler::monitor;
using monitor::RankState;
using monitor::RecordingStatus;
using profiler::countText;
using profiler::Error;
using profiler::fail;
using profiler::Nanoseconds;
using profiler::Result;
using profiler::shareText;
using profiler::significantText;
using profiler::timeText;

constexpr std::size_t kDataWait = static_cast<std::size_t>(StepPart::DataWait);
constexpr std::size_t kMostCaptures = 8; ///< in the table; the JSON contains all of them
constexpr std::size_t kMostMinutes = 60; ///< the same

std::string throughput(const RankStatus& rank)
{
    if (rank.samplesPerSecond)
        return significantText(*rank.samplesPerSecond) + " samples/s";
    return rank.stepsPerSecond > 0 ? significantText(rank.stepsPerSecond) + " steps/s" : "–";
}

double waitShare(const RankStatus& rank)
{
    double all = 0;
    for (const double part : rank.partUs)
        all += part;
    return rank.p50Us > 0 && all > 0 ? rank.partUs[kDataWait] / std::max(rank.p50Us, all) : 0;
}

std::string ageText(const RankStatus& rank, Nanoseconds now)
{
    if (rank.lastEnd <= Nanoseconds{0} || rank.lastEnd > now)
        return "–";
    return timeText(static_cast<double>((now - rank.lastEnd).count()) / 1e3);
}

std::string clockText(Nanoseconds time)
{
    const std::time_t seconds = std::chrono::duration_cast<std::chrono::seconds>(time).count();
    return fmt::format("{:%Y-%m-%d %H:%M}", fmt::localtime(seconds));
}

nlohmann::ordered_json partsJson(const std::array<double, kStepParts.size()>& partUs)
{
    nlohmann::ordered_json json;
    for (std::size_t part = 0; part < kStepParts.size(); ++part)
        json[std::string(kStepParts[part]) + "_us"] = partUs[part];
    return json;
}

std::string labelValue(const std::string& text)
{
    std::string value;
    for (const char c : text)
        value += c == '\\' ? "\\\\" : c == '"' ? "\\\"" : c == '\n' ? "\\n" : std::string(1, c);
    return value;
}

/// One metric with a sample for each rank that has it.
class Metric {
public:
    Metric(std::string& text, std::string_view name, std::string_view type, std::string_view help)
        : m_text(text), m_name(name)
    {
        m_text += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
    }
    void add(const RankStatus& rank, double value, std::string_view label = {})
    {
        m_text +=
            fmt::format("{}{{rank=\"{}\",host=\"{}\"{}}} {}\n", m_name, rank.rank, labelValue(rank.host), label, value);
    }

private:
    std::string& m_text;
    std::string m_name;
};

/// @param now  since 1970
std::string watchTable(const RecordingStatus& status, Nanoseconds now)
{
    if (status.ranks.empty())
        return "No step so far\n";
    TextTable table({"rank", "state", "step", "now", "p50", "p99", "data wait", "throughput", "late", "last step"});
    for (const RankStatus& rank : status.ranks) {
        const bool hasTimes = rank.recent > 0;
        const auto time = [&](double us) { return hasTimes ? timeText(us) : std::string("–"); };
        table.add({std::to_string(rank.rank), std::string(stateName(rank.state)),
                   rank.lastIndex < 0 ? "–" : countText(rank.lastIndex), time(rank.lastUs), time(rank.p50Us),
                   time(rank.p99Us), hasTimes ? shareText(waitShare(rank)) : "–", throughput(rank),
                   rank.lateUs ? timeText(*rank.lateUs) : "–",
                   rank.state == RankState::Ended ? "–" : ageText(rank, now)});
    }
    std::string text = table.text();
    if (status.captures.empty())
        return text;
    text += fmt::format("{} {}\n", status.captures.size(), status.captures.size() == 1 ? "capture" : "captures");
    const std::size_t first = status.captures.size() - std::min(status.captures.size(), kMostCaptures);
    for (std::size_t i = first; i < status.captures.size(); ++i) {
        const Capture& capture = status.captures[i];
        text += fmt::format("  {}  {} {}, {}\n", capture.name, capture.traces, capture.traces == 1 ? "trace" : "traces",
                            profiler::bytesText(capture.bytes));
    }
    return text;
}

/// The slowest values of all ranks in one line, without a line break.
std::string watchLine(const RecordingStatus& status, Nanoseconds now)
{
    if (status.ranks.empty())
        return "no step so far";
    const auto alive = std::count_if(status.ranks.begin(), status.ranks.end(),
                                     [](const RankStatus& rank) { return rank.state == RankState::Alive; });
    const auto by = [](double RankStatus::*member) {
        return [member](const RankStatus& a, const RankStatus& b) { return a.*member < b.*member; };
    };
    const RankStatus& slowest = *std::max_element(status.ranks.begin(), status.ranks.end(), by(&RankStatus::p50Us));
    const RankStatus& last =
        *std::min_element(status.ranks.begin(), status.ranks.end(),
                          [](const RankStatus& a, const RankStatus& b) { return a.lastIndex < b.lastIndex; });
    return fmt::format("step {} · {} now, p50 {}, p99 {} · data wait {} · {} · last step {} ago · {} of {} alive",
                       last.lastIndex < 0 ? "–" : countText(last.lastIndex), timeText(slowest.lastUs),
                       timeText(slowest.p50Us), timeText(slowest.p99Us), shareText(waitShare(slowest)),
                       throughput(slowest), ageText(last, now), alive, status.ranks.size());
}

/// @param now  since 1970
nlohmann::ordered_json watchJson(const RecordingStatus& status, Nanoseconds now)
{
    nlohmann::ordered_json json{{"schema", 1}, {"always_on", status.isAlwaysOn}, {"now_ns", now.count()}};
    auto& ranks = json["ranks"] = nlohmann::ordered_json::array();
    for (const RankStatus& rank : status.ranks) {
        nlohmann::ordered_json row{{"rank", rank.rank},
                                   {"world_size", rank.worldSize},
                                   {"host", rank.host},
                                   {"pid", rank.pid},
                                   {"file", rank.file.string()},
                                   {"state", stateName(rank.state)},
                                   {"steps", rank.steps},
                                   {"last_index", rank.lastIndex},
                                   {"last_end_ns", rank.lastEnd.count()},
                                   {"recent_steps", rank.recent},
                                   {"last_us", rank.lastUs},
                                   {"p50_us", rank.p50Us},
                                   {"p99_us", rank.p99Us},
                                   {"parts", partsJson(rank.partUs)},
                                   {"outside_us", rank.outsideUs},
                                   {"steps_per_s", rank.stepsPerSecond}};
        row["samples_per_s"] =
            rank.samplesPerSecond ? nlohmann::ordered_json(*rank.samplesPerSecond) : nlohmann::ordered_json(nullptr);
        row["late_us"] = rank.lateUs ? nlohmann::ordered_json(*rank.lateUs) : nlohmann::ordered_json(nullptr);
        ranks.push_back(std::move(row));
    }
    auto& captures = json["captures"] = nlohmann::ordered_json::array();
    for (const Capture& capture : status.captures)
        captures.push_back({{"name", capture.name}, {"traces", capture.traces}, {"bytes", capture.bytes}});
    return json;
}

/// Prometheus's text format, version 0.0.4: times in seconds, as its conventions require.
std::string prometheusText(const RecordingStatus& status)
{
    std::string text;
    const auto each = [&](std::string_view name, std::string_view type, std::string_view help, auto value) {
        Metric metric(text, name, type, help);
        for (const RankStatus& rank : status.ranks)
            if (const std::optional<double> found = value(rank); found && std::isfinite(*found))
                metric.add(rank, *found);
    };
    const auto timed = [](const RankStatus& rank, double us) {
        return rank.recent > 0 ? std::optional(us / 1e6) : std::nullopt;
    };
    each("stepscope_up", "gauge", "1 while the program of the rank lives, otherwise 0.",
         [](const RankStatus& rank) { return std::optional(rank.state == RankState::Alive ? 1.0 : 0.0); });
    each("stepscope_steps_total", "counter", "Training steps completed since the recording began.",
         [](const RankStatus& rank) { return std::optional(static_cast<double>(rank.steps)); });
    each("stepscope_step_last_seconds", "gauge", "Duration of the newest step.",
         [&](const RankStatus& rank) { return timed(rank, rank.lastUs); });
    each("stepscope_step_p50_seconds", "gauge", "Median duration of the recent steps.",
         [&](const RankStatus& rank) { return timed(rank, rank.p50Us); });
    each("stepscope_step_p99_seconds", "gauge", "99th percentile of the durations of the recent steps.",
         [&](const RankStatus& rank) { return timed(rank, rank.p99Us); });
    each("stepscope_outside_seconds", "gauge", "Mean time between two recent steps.",
         [&](const RankStatus& rank) { return timed(rank, rank.outsideUs); });
    each("stepscope_steps_per_second", "gauge", "Throughput in the recent steps.", [](const RankStatus& rank) {
        return rank.stepsPerSecond > 0 ? std::optional(rank.stepsPerSecond) : std::nullopt;
    });
    each("stepscope_samples_per_second", "gauge", "Throughput in the recent steps, if the batch size is known.",
         [](const RankStatus& rank) { return rank.samplesPerSecond; });
    each("stepscope_late_seconds", "gauge",
         "Mean time by which the rank begins its backward pass after the first rank.",
         [](const RankStatus& rank) { return rank.lateUs ? std::optional(*rank.lateUs / 1e6) : std::nullopt; });
    each("stepscope_last_step_timestamp_seconds", "gauge", "End of the newest step, in seconds since 1970.",
         [](const RankStatus& rank) {
             return rank.lastEnd > Nanoseconds{0} ? std::optional(static_cast<double>(rank.lastEnd.count()) / 1e9)
                                                  : std::nullopt;
         });
    Metric phases(text, "stepscope_phase_seconds", "gauge", "Mean time of a phase in the recent steps.");
    for (const RankStatus& rank : status.ranks)
        for (std::size_t part = 0; rank.recent > 0 && part < kStepParts.size(); ++part)
            phases.add(rank, rank.partUs[part] / 1e6, fmt::format(",phase=\"{}\"", kStepParts[part]));
    text += "# HELP stepscope_captures Traces of single steps in the folder of the recording.\n"
            "# TYPE stepscope_captures gauge\n" +
            fmt::format("stepscope_captures {}\n", status.captures.size());
    return text;
}

/// The minutes of an always-on recording, newest last.
std::string historyTable(const std::vector<RingMinute>& minutes)
{
    TextTable table({"minute", "steps", "mean", "p50", "p99", "max", "data wait", "between steps"});
    for (std::size_t i = minutes.size() - std::min(minutes.size(), kMostMinutes); i < minutes.size(); ++i) {
        const RingMinute& minute = minutes[i];
        table.add({clockText(minute.begin), countText(minute.steps), timeText(minute.meanUs), timeText(minute.p50Us),
                   timeText(minute.p99Us), timeText(minute.maxUs), timeText(minute.partUs[kDataWait]),
                   timeText(minute.outsideUs)});
    }
    return minutes.empty() ? "  No complete minute so far\n" : table.text();
}

nlohmann::ordered_json historyJson(const std::vector<RingMinute>& minutes)
{
    nlohmann::ordered_json json = nlohmann::ordered_json::array();
    for (const RingMinute& minute : minutes)
        json.push_back({{"begin_ns", minute.begin.count()},
                        {"steps", minute.steps},
                        {"captured", minute.captured},
                        {"samples", minute.samples},
                        {"mean_us", minute.meanUs},
                        {"p50_us", minute.p50Us},
                        {"p90_us", minute.p90Us},
                        {"p99_us", minute.p99Us},
                        {"max_us", minute.maxUs},
                        {"parts", partsJson(minute.partUs)},
                        {"outside_us", minute.outsideUs}});
    return json;
}

constexpr const char* kRequest = "capture.json"; // read by resources/python/stepscope/captures.py
constexpr std::size_t kAllMinutes = 100'000;
// Until all ranks of a job have seen a request, and are ready for its first step; as in captures.py.
constexpr double kLeadUs = 2e6;
// A process starts and a trace of a few steps is written within seconds; steps may take minutes.
constexpr auto kLeastWait = std::chrono::seconds(60);
constexpr double kWaitSteps = 10;

Nanoseconds now()
{
    return std::chrono::duration_cast<Nanoseconds>(std::chrono::system_clock::now().time_since_epoch());
}

bool isOver(const RecordingStatus& status)
{
    return !status.ranks.empty() && std::ranges::none_of(status.ranks, [](const monitor::RankStatus& rank) {
        return rank.state == RankState::Alive || rank.state == RankState::Unknown;
    });
}

/// Waits, and returns false after Ctrl-C.
bool pause(std::chrono::duration<double> time)
{
    constexpr std::chrono::milliseconds kPiece{50};
    const auto until = std::chrono::steady_clock::now() + time;
    while (interrupts() == 0 && std::chrono::steady_clock::now() < until)
        std::this_thread::sleep_for(kPiece);
    return interrupts() == 0;
}

Result<void> replace(const fs::path& path, std::string_view text)
{
    auto file = profiler::os::ReplacementFile::create(path);
    int number = file ? file->write(text) : errno;
    if (file && number == 0)
        number = file->commit();
    if (number == 0)
        return {};
    return fail<"watch.file", "the file cannot be written: {why}">(
        Error::Code::Io, path.string(), "check the folder's permissions and the space on the disk",
        {{"why", std::generic_category().message(number)}});
}

/// Shows statuses where the user asked for them.
class Output {
public:
    Output(const WatchOptions& options, const Streams& streams)
        : m_options(options), m_streams(streams), m_redraws(!options.once && profiler::os::isTerminal(1))
    {
    }
    /// @param now  by the clock of the machine that records, since 1970
    Result<void> show(const RecordingStatus& status, Nanoseconds now)
    {
        if (!m_options.prometheus.empty() && m_options.prometheus != "-")
            return replace(m_options.prometheus, prometheusText(status));
        m_streams.out << text(status, now) << std::flush;
        return {};
    }

private:
    std::string text(const RecordingStatus& status, Nanoseconds now)
    {
        if (m_options.prometheus == "-")
            return prometheusText(status);
        if (m_options.json)
            return jsonText(json(status, now), !m_options.once) + '\n';
        if (m_options.history)
            return histories(status);
        if (!m_options.once && !m_redraws)
            return fmt::format("{:%H:%M:%S} {}\n", fmt::localtime(std::time(nullptr)), watchLine(status, now));
        std::string table = watchTable(status, now);
        const auto lines = std::count(table.begin(), table.end(), '\n');
        if (m_redraws && m_lines > 0) // to the first line of the previous table; then clear what is below
            table = fmt::format("\x1b[{}F\x1b[J", m_lines) + table;
        m_lines = lines;
        return table;
    }
    nlohmann::ordered_json json(const RecordingStatus& status, Nanoseconds now) const
    {
        auto json = watchJson(status, now);
        if (m_options.history)
            for (auto& rank : json["ranks"])
                rank["minutes"] = historyJson(minutes(rank["file"].get<std::string>()));
        return json;
    }
    static std::vector<monitor::RingMinute> minutes(const fs::path& file)
    {
        auto ring = monitor::readStepRing(file, 0, kAllMinutes);
        return ring ? std::move(ring->newestMinutes) : std::vector<monitor::RingMinute>();
    }
    static std::string histories(const RecordingStatus& status)
    {
        std::string text;
        for (const monitor::RankStatus& rank : status.ranks)
            text += fmt::format("Rank {}\n{}", rank.rank, historyTable(minutes(rank.file)));
        return text;
    }

    const WatchOptions& m_options;
    const Streams& m_streams;
    bool m_redraws;
    std::ptrdiff_t m_lines = 0;
};

fs::path folderOf(const fs::path& place)
{
    std::error_code ignored;
    return fs::is_directory(place, ignored) ? place : place.parent_path();
}

/// Asks the ranks that live for a trace of their next steps. @return the name of the capture's folder
Result<std::string> request(const fs::path& folder, std::int64_t steps, const std::vector<monitor::RankStatus>& ranks)
{
    std::int64_t next = 0;
    double fastest = 0;
    for (const monitor::RankStatus& rank : ranks) {
        next = std::max(next, rank.lastIndex + 1);
        fastest = fastest == 0 ? rank.p50Us : std::min(fastest, rank.p50Us);
    }
    // A single rank begins as soon as it is ready. The ranks of a job begin with the same step.
    const std::int64_t lead = static_cast<std::int64_t>(kLeadUs / std::max(fastest, 1.0)) + 1;
    const std::string name = fmt::format("capture-{:%Y%m%d-%H%M%S}", fmt::localtime(std::time(nullptr)));
    const nlohmann::ordered_json wanted{
        {"name", name}, {"first", ranks.size() > 1 ? next + lead : 0}, {"steps", steps}};
    if (auto written = replace(folder / kRequest, jsonText(wanted) + '\n'); !written)
        return tl::unexpected(written.error());
    return name;
}

int captureSteps(const WatchOptions& options, const Streams& streams)
{
    monitor::RecordingWatch watch(options.place);
    auto status = watch.look();
    if (!status) {
        streams.err << status.error().message() << '\n';
        return kBadInput;
    }
    std::erase_if(status->ranks, [](const monitor::RankStatus& rank) {
        return rank.state != RankState::Alive && rank.state != RankState::Unknown;
    });
    if (!status->isAlwaysOn || status->ranks.empty()) {
        streams.err << profiler::makeError<"watch.capture.none", "no always-on recording is running here">(
                           Error::Code::NotFound, options.place.string(),
                           "start one: stepscope-cli record --level steps -o DIR -- COMMAND")
                           .message()
                    << '\n';
        return kBadInput;
    }
    const fs::path folder = folderOf(options.place);
    const auto name = request(folder, options.capture, status->ranks);
    if (!name) {
        streams.err << name.error().message() << '\n';
        return kBadInput;
    }
    double slowest = 0;
    for (const monitor::RankStatus& rank : status->ranks)
        slowest = std::max(slowest, rank.p99Us);
    const auto until = std::chrono::steady_clock::now() + kLeastWait +
                       std::chrono::duration_cast<std::chrono::seconds>(std::chrono::duration<double, std::micro>(
                           slowest * kWaitSteps * static_cast<double>(options.capture)));
    const std::size_t wanted = status->ranks.size();
    const std::int64_t rank = status->ranks.front().rank;
    std::size_t traces = 0;
    bool isAlive = true;
    while (traces < wanted && isAlive && std::chrono::steady_clock::now() < until && pause(options.interval)) {
        status = watch.look();
        if (!status)
            break;
        isAlive = !isOver(*status);
        for (const monitor::Capture& one : status->captures)
            if (one.name == *name)
                traces = one.traces;
    }
    const fs::path place = folder / *name;
    if (options.json)
        streams.out << jsonText({{"schema", 1}, {"capture", place.string()}, {"traces", traces}, {"ranks", wanted}})
                    << '\n';
    else if (traces > 0)
        streams.out << fmt::format(
            "{}: {} of {} traces · to see where the time goes: stepscope-cli summarize {}\n", place.string(), traces,
            wanted,
            runner::commandLine({(wanted == 1 ? place / fmt::format("rank{}.sstrace", rank) : place).string()}));
    if (traces == wanted)
        return kDone;
    streams.err
        << profiler::makeError<"watch.capture.incomplete", "{traces} of {ranks} ranks have recorded their steps">(
               Error::Code::Unavailable, place.string(),
               "look into the program's output; the others may still be writing their traces",
               {{"traces", traces}, {"ranks", wanted}})
               .message()
        << '\n';
    return interrupts() > 0 ? kInterrupted : kBadInput;
}

} // namespace

int watch(const WatchOptions& options, const Streams& streams)
{
    catchInterrupts();
    if (options.capture > 0)
        return captureSteps(options, streams);
    const bool isOnce = !options.isLive();
    Output output(options, streams);
    if (options.machine.isRemote())
        return watchRemotely(
            options, [&](const RecordingStatus& status, Nanoseconds then) { return output.show(status, then); },
            streams);
    monitor::RecordingWatch watch(options.place);
    for (;;) {
        const auto status = watch.look();
        if (!status) {
            streams.err << status.error().message() << '\n';
            return kBadInput;
        }
        if (const auto shown = output.show(*status, now()); !shown) {
            streams.err << shown.error().message() << '\n';
            return kBadInput;
        }
        if (isOnce && status->ranks.empty()) {
            streams.err << profiler::makeError<"watch.nothing", "no rank has completed a step here">(
                               Error::Code::NotFound, options.place.string(),
                               "specify the folder or the trace that record -o names; wait until the program trains")
                               .message()
                        << '\n';
            return kBadInput;
        }
        if (isOnce || isOver(*status) || !profiler::os::hasReader(1))
            return kDone;
        if (!pause(options.interval))
            return kInterrupted;
    }
}

} // namespace app::terminal
