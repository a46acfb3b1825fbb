#include "profiler/monitor/recording_watch.h"

#include "profiler/analysis/statistics.h"
#include "profiler/analysis/steps/steps.h"
#include "profiler/formats/container/trace_file.h"
#include "profiler/formats/container/trace_reader.h"
#include "profiler/model/parse_number.h"

#include <algorithm>
#include <limits>
#include <system_error>

namespace profiler::monitor {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMostRecent = 6000, kLeastRecent = 100;
constexpr Nanoseconds kRecent = std::chrono::minutes(1);
constexpr std::string_view kRingExtension = ".steps", kCapturePrefix = "capture-";

/// The steps from which a status is computed, oldest first, without captured ones.
struct Recent {
    std::vector<RingStep> steps;
};

Recent recentOf(const std::vector<RingStep>& newest)
{
    Recent recent;
    for (std::size_t back = 0; back < newest.size(); ++back) {
        const RingStep& step = newest[newest.size() - 1 - back];
        if (back >= kLeastRecent && newest.back().end - step.end > kRecent)
            break;
        if (!step.captured)
            recent.steps.push_back(step);
    }
    std::reverse(recent.steps.begin(), recent.steps.end());
    return recent;
}

void addTimes(RankStatus& status, const Recent& recent)
{
    const auto& steps = recent.steps;
    status.recent = steps.size();
    if (steps.empty())
        return;
    std::vector<double> durations;
    std::int64_t samples = 0;
    for (const RingStep& step : steps) {
        durations.push_back(static_cast<double>(step.duration.count()) / 1e3);
        samples += step.samples;
        for (std::size_t part = 0; part < kStepParts.size(); ++part)
            status.partUs[part] += static_cast<double>(step.parts[part].count()) / 1e3;
        status.outsideUs += static_cast<double>(step.outside.count()) / 1e3;
    }
    for (double& part : status.partUs)
        part /= static_cast<double>(steps.size());
    status.outsideUs /= static_cast<double>(steps.size());
    status.lastUs = durations.back();
    status.p50Us = analysis::percentile(durations, 0.5);
    status.p99Us = analysis::percentile(durations, 0.99);
    const Nanoseconds span = steps.back().end - (steps.front().end - steps.front().duration);
    if (span > Nanoseconds{0}) {
        const double seconds = static_cast<double>(span.count()) / 1e9;
        status.stepsPerSecond = static_cast<double>(steps.size()) / seconds;
        if (samples > 0)
            status.samplesPerSecond = static_cast<double>(samples) / seconds;
    }
}

/// When each recent step's backward pass began, since 1970, by the index of the step.
std::map<std::int64_t, Nanoseconds> arrivals(const Recent& recent)
{
    std::map<std::int64_t, Nanoseconds> found;
    for (const RingStep& step : recent.steps)
        if (step.arrival)
            found.insert_or_assign(step.index, step.end - step.duration + *step.arrival);
    return found;
}

/// Sets how late each rank is, over the steps that all of them have.
void addLateness(std::vector<RankStatus>& ranks, const std::vector<Recent>& recent)
{
    if (ranks.size() < 2)
        return;
    std::vector<std::map<std::int64_t, Nanoseconds>> times;
    std::transform(recent.begin(), recent.end(), std::back_inserter(times), arrivals);
    std::vector<double> sums(ranks.size(), 0);
    std::size_t count = 0;
    for (const auto& [index, time] : times.front()) {
        std::vector<Nanoseconds> ofStep;
        for (const auto& rank : times)
            if (const auto found = rank.find(index); found != rank.end())
                ofStep.push_back(found->second);
        if (ofStep.size() != times.size())
            continue;
        const Nanoseconds first = *std::min_element(ofStep.begin(), ofStep.end());
        for (std::size_t rank = 0; rank < sums.size(); ++rank)
            sums[rank] += static_cast<double>((ofStep[rank] - first).count()) / 1e3;
        ++count;
    }
    if (count > 0)
        for (std::size_t rank = 0; rank < sums.size(); ++rank)
            ranks[rank].lateUs = sums[rank] / static_cast<double>(count);
}

std::int64_t numberOf(const Trace& trace, std::string_view key, std::int64_t otherwise)
{
    const auto found = trace.metadata().find(key);
    return found == trace.metadata().end() ? otherwise : parseNumber<std::int64_t>(found->second).value_or(otherwise);
}

std::string textOf(const Trace& trace, std::string_view key, std::string_view other)
{
    const auto found = trace.metadata().find(key);
    const auto second = trace.metadata().find(other);
    return found != trace.metadata().end()    ? found->second
           : second != trace.metadata().end() ? second->second
                                              : std::string();
}

/// The newest steps of a trace as records of a ring. Their ends are since 1970 if the trace knows that time.
std::vector<RingStep> stepsOf(const Trace& trace, std::size_t& all)
{
    std::vector<analysis::Step> marks = analysis::stepMarks(trace, {});
    // Times of damaged files may be anything: differences of these cannot overflow.
    const auto isPossible = [](std::int64_t ns) {
        constexpr std::int64_t kMost = 4'000'000'000'000'000'000;
        return ns > -kMost && ns < kMost;
    };
    std::erase_if(marks, [&](const analysis::Step& step) {
        return step.partial || !isPossible(toNs(step.range.begin)) || !isPossible(toNs(step.range.end));
    });
    all = marks.size();
    if (marks.size() > kMostRecent)
        marks.erase(marks.begin(), marks.end() - kMostRecent);
    if (marks.empty())
        return {};
    const std::int64_t offset = numberOf(trace, "clock.realtime_minus_monotonic_ns", 0);
    const Nanoseconds toRealtime{isPossible(offset) ? offset : 0};
    const TrackId track = trace.slice(marks.front().slice).id.track;
    std::vector<TraceTime> backward;
    const auto name = trace.findString("backward");
    trace.forEach(track, {marks.front().range.begin, marks.back().range.end}, [&](const Slice& slice) {
        if (slice.kind == ActivityKind::Phase && name && slice.name == *name)
            backward.push_back(slice.begin);
        return true;
    });
    std::sort(backward.begin(), backward.end());
    std::vector<RingStep> steps;
    TraceTime before = marks.front().range.begin;
    for (const analysis::Step& step : analysis::withParts(trace, marks)) {
        const analysis::StepParts& parts = step.parts;
        RingStep made{.index = step.index,
                      .end = step.range.end.time_since_epoch() + toRealtime,
                      .duration = step.range.duration(),
                      .parts = {{parts.dataWait, parts.forward, Nanoseconds{0}, parts.backward, parts.optimizer,
                                 parts.zeroGrad + parts.metrics + parts.copy}},
                      .outside = std::max(Nanoseconds{0}, step.range.begin - before),
                      .arrival = {},
                      .samples = numberOf(trace, "loader.batch_size", 0),
                      .captured = false};
        before = step.range.end;
        const auto arrived = std::lower_bound(backward.begin(), backward.end(), step.range.begin);
        if (arrived != backward.end() && *arrived < step.range.end)
            made.arrival = *arrived - step.range.begin;
        steps.push_back(made);
    }
    return steps;
}

RankState stateOf(const StepRing& ring)
{
    if (ring.holder == os::LockHolder::Somebody)
        return RankState::Alive;
    if (ring.ended)
        return RankState::Ended;
    return ring.holder == os::LockHolder::Nobody ? RankState::Killed : RankState::Unknown;
}

Capture captureIn(const fs::path& folder)
{
    Capture capture{.name = folder.filename().string()};
    std::error_code failed;
    for (auto entry = fs::directory_iterator(folder, failed); !failed && entry != fs::directory_iterator();
         entry.increment(failed)) {
        std::error_code ignored;
        const auto file = container::InputFile::open(entry->path());
        const auto header = file ? container::readHeader(*file) : Result<container::TraceHeader>{};
        if (entry->path().extension() != ".sstrace" || !file || !header || !header->isSealed)
            continue;
        ++capture.traces;
        const std::uintmax_t bytes = entry->file_size(ignored);
        capture.bytes += ignored ? 0 : bytes;
    }
    return capture;
}

} // namespace

std::string_view stateName(RankState state)
{
    constexpr std::array<std::string_view, 4> kNames = {"alive", "ended", "killed", "unknown"};
    return kNames[static_cast<std::size_t>(state)];
}

/// A file of the folder, and what was read of it.
struct RecordingWatch::Follower {
    fs::path path;
    bool isRing = false;
    std::unique_ptr<container::TailingReader> reader; ///< of a trace
    bool isWhole = false;                             ///< nothing more is written to the trace
    bool isOver = false;                              ///< its status does not change any more
    RankStatus status;
    Recent recent;
    Nanoseconds started{}; ///< since 1970 for a ring, by the trace's clock for a trace
    bool hasSteps = false;

    /// @return false if the file is neither a ring nor a trace, or can no longer be read
    bool read() { return isRing ? readRing() : readTrace(); }

private:
    bool readRing()
    {
        auto ring = readStepRing(path, kMostRecent, 0);
        if (!ring)
            return false;
        status = {.rank = ring->owner.rank,
                  .worldSize = ring->owner.worldSize,
                  .pid = ring->owner.pid,
                  .host = ring->owner.host,
                  .file = path,
                  .state = stateOf(*ring),
                  .steps = static_cast<std::int64_t>(ring->steps)};
        take(ring->newestSteps);
        started = ring->owner.started;
        return true;
    }

    bool readTrace()
    {
        if (isOver)
            return true;
        const os::LockHolder holder = os::lockHolder(path);
        const auto grown = reader->poll();
        if (!grown)
            return false;
        const bool isCut = !reader->ended() && holder == os::LockHolder::Nobody;
        if (isCut)
            reader->closeAsCut();
        const auto trace = reader->snapshot();
        std::size_t all = 0;
        const auto steps = stepsOf(*trace, all);
        status = {.rank = numberOf(*trace, "rank", numberOf(*trace, "process.rank", 0)),
                  .worldSize = numberOf(*trace, "world_size", numberOf(*trace, "process.world_size", 1)),
                  .host = textOf(*trace, "host.name", "process.host"),
                  .file = path,
                  .state = reader->ended()                      ? RankState::Ended
                           : isCut                              ? RankState::Killed
                           : holder == os::LockHolder::Somebody ? RankState::Alive
                                                                : RankState::Unknown,
                  .steps = static_cast<std::int64_t>(all)};
        take(steps);
        started = trace->range().begin.time_since_epoch();
        isOver = reader->ended() || isCut;
        return true;
    }

    void take(const std::vector<RingStep>& steps)
    {
        hasSteps = !steps.empty();
        recent = recentOf(steps);
        if (hasSteps) {
            status.lastIndex = steps.back().index;
            status.lastEnd = steps.back().end;
        }
        addTimes(status, recent);
    }
};

RecordingWatch::RecordingWatch(fs::path place) : m_folder(std::move(place))
{
    std::error_code ignored;
    if (fs::is_directory(m_folder, ignored))
        return;
    m_prefix = m_folder.filename().string();
    m_folder = m_folder.has_parent_path() ? m_folder.parent_path() : fs::path(".");
}

RecordingWatch::~RecordingWatch() = default;

Result<RecordingStatus> RecordingWatch::look()
{
    RecordingStatus status;
    std::error_code failed;
    std::vector<fs::path> files;
    for (auto entry = fs::directory_iterator(m_folder, failed); !failed && entry != fs::directory_iterator();
         entry.increment(failed)) {
        const std::string name = entry->path().filename().string();
        std::error_code ignored;
        if (m_prefix.empty() && name.starts_with(kCapturePrefix) && entry->is_directory(ignored))
            status.captures.push_back(captureIn(entry->path()));
        else if (name.starts_with(m_prefix) && entry->is_regular_file(ignored))
            files.push_back(entry->path());
    }
    if (failed)
        return fail<"monitor.folder", "the folder of the recording cannot be read: {why}">(
            Error::Code::NotFound, m_folder.string(), "specify the folder that record -o names",
            {{"why", failed.message()}});
    std::erase_if(m_followers,
                  [&](const auto& known) { return std::find(files.begin(), files.end(), known.first) == files.end(); });
    for (const fs::path& file : files) {
        if (m_followers.contains(file))
            continue;
        auto follower = std::make_unique<Follower>();
        follower->path = file;
        follower->isRing = file.extension() == kRingExtension && isStepRing(file);
        if (!follower->isRing) {
            if (auto reader = container::TailingReader::open(file))
                follower->reader = std::move(*reader);
            else
                continue;
        }
        m_followers.emplace(file, std::move(follower));
    }
    // The newest recording of each rank.
    std::map<std::int64_t, Follower*> newest;
    for (const auto& [file, follower] : m_followers) {
        if (!follower->read() || (!follower->hasSteps && !follower->isRing))
            continue;
        status.isAlwaysOn = status.isAlwaysOn || follower->isRing;
        Follower*& known = newest[follower->status.rank];
        if (!known || follower->started > known->started)
            known = follower.get();
    }
    std::vector<Recent> recent;
    for (const auto& [rank, follower] : newest) {
        status.ranks.push_back(follower->status);
        recent.push_back(follower->recent);
    }
    addLateness(status.ranks, recent);
    std::sort(status.captures.begin(), status.captures.end(),
              [](const Capture& a, const Capture& b) { return a.name < b.name; });
    return status;
}

} // namespace profiler::monitor
