#include "advisor/runner/shell_words.h"
#include "app/terminal/commands.h"
#include "app/terminal/interrupt.h"
#include "app/terminal/json_text.h"
#include "app/terminal/watch_out.h"
#include "profiler/monitor/recording_watch.h"
#include "profiler/os/pipes.h"
#include "profiler/os/replacement_file.h"

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <system_error>
#include <thread>

namespace app::terminal {

using namespace advisor;

namespace {

namespace fs = std::filesystem;
namespace monitor = profiler::monitor;
using monitor::RankState;
using monitor::RecordingStatus;
using profiler::Error;
using profiler::fail;
using profiler::Nanoseconds;
using profiler::Result;

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
    Result<void> show(const RecordingStatus& status)
    {
        if (!m_options.prometheus.empty() && m_options.prometheus != "-")
            return replace(m_options.prometheus, prometheusText(status));
        m_streams.out << text(status) << std::flush;
        return {};
    }

private:
    std::string text(const RecordingStatus& status)
    {
        if (m_options.prometheus == "-")
            return prometheusText(status);
        if (m_options.json)
            return jsonText(json(status), !m_options.once) + '\n';
        if (m_options.history)
            return histories(status);
        if (!m_options.once && !m_redraws)
            return fmt::format("{:%H:%M:%S} {}\n", fmt::localtime(std::time(nullptr)), watchLine(status, now()));
        std::string table = watchTable(status, now());
        const auto lines = std::count(table.begin(), table.end(), '\n');
        if (m_redraws && m_lines > 0) // to the first line of the previous table; then clear what is below
            table = fmt::format("\x1b[{}F\x1b[J", m_lines) + table;
        m_lines = lines;
        return table;
    }
    nlohmann::ordered_json json(const RecordingStatus& status) const
    {
        auto json = watchJson(status);
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

int capture(const WatchOptions& options, const Streams& streams)
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
                           "start one: stepscope-cli record --level always-on -o DIR -- COMMAND")
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
        return capture(options, streams);
    const bool isOnce = options.once || options.history || options.prometheus == "-";
    monitor::RecordingWatch watch(options.place);
    Output output(options, streams);
    for (;;) {
        const auto status = watch.look();
        if (!status) {
            streams.err << status.error().message() << '\n';
            return kBadInput;
        }
        if (const auto shown = output.show(*status); !shown) {
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
