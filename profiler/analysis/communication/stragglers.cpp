#include "profiler/analysis/communication/stragglers.h"

#include "profiler/analysis/device/device_use.h"
#include "profiler/analysis/slice_queries.h"
#include "profiler/analysis/statistics.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <span>

namespace profiler::analysis {

namespace {

struct Part {
    TimeRange range;
    DeviceId device;
    SliceId slice;
};

/// Divides the kernels of one name, sorted by start, into collectives. A collective ends before a device's next kernel
/// of that name, and before a kernel that starts after one of its kernels has ended.
template <class Take>
void forEachCollective(std::span<const Part> parts, Take&& take)
{
    std::size_t first = 0;
    TraceTime end = TraceTime::max();
    std::set<DeviceId> devices;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (i > first && (parts[i].range.begin >= end || devices.contains(parts[i].device))) {
            take(parts.subspan(first, i - first));
            first = i;
            end = TraceTime::max();
            devices.clear();
        }
        devices.insert(parts[i].device);
        end = std::min(end, parts[i].range.end);
    }
    if (first < parts.size())
        take(parts.subspan(first));
}

// Ranks leave a collective within microseconds of each other.
constexpr Nanoseconds kTogether = std::chrono::microseconds(20);

class Counting {
public:
    explicit Counting(const AnalysedPart& part) : m_part(part) {}

    /// Divides overlapping kernels into collectives by their end times.
    void takeOverlapping(std::span<const Part> kernels)
    {
        std::vector<Part> parts(kernels.begin(), kernels.end());
        std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.range.end < b.range.end; });
        Nanoseconds apart = Nanoseconds::max();
        for (const Part& kernel : parts)
            apart = std::min(apart, kernel.range.duration() / 10);
        apart = std::max(apart, kTogether);
        for (auto first = parts.begin(); first != parts.end();) {
            const auto next = std::adjacent_find(
                first, parts.end(), [&](const Part& a, const Part& b) { return b.range.end - a.range.end > apart; });
            const auto end = next == parts.end() ? next : next + 1;
            std::stable_sort(first, end, isEarlier);
            take({first, end});
            first = end;
        }
    }

    static bool isEarlier(const Part& a, const Part& b) { return a.range.begin < b.range.begin; }

    Stragglers result()
    {
        for (auto& [device, rank] : m_ranks) {
            rank.device = device;
            m_found.ranks.push_back(rank);
        }
        m_found.spread = Nanoseconds{std::llround(percentile(std::move(m_spreads), 0.5))};
        if (m_time.count() > 0)
            m_found.waitedShare = static_cast<double>(m_found.waited.count()) / static_cast<double>(m_time.count());
        return std::move(m_found);
    }

private:
    void take(std::span<const Part> collective)
    {
        if (!m_part.holds(collective.front().range.begin))
            return;
        if (collective.size() < 2) {
            ++m_found.alone;
            return;
        }
        ++m_found.collectives;
        const Part& last = collective.back();
        const Nanoseconds spread = last.range.begin - collective.front().range.begin;
        m_spreads.push_back(static_cast<double>(spread.count()));
        ++m_ranks[last.device].last;
        if (m_found.collectives == 1 || spread > m_most) {
            m_most = spread;
            m_found.worst = last.slice;
        }
        for (const Part& kernel : collective) {
            const Nanoseconds waited = last.range.begin - kernel.range.begin;
            addSaturating(m_ranks[kernel.device].waited, waited);
            addSaturating(m_found.waited, waited);
            addSaturating(m_time, kernel.range.duration());
        }
    }

    const AnalysedPart& m_part;
    std::map<DeviceId, RankArrival> m_ranks;
    std::vector<double> m_spreads;
    Nanoseconds m_time{}, m_most{};
    Stragglers m_found;
};

} // namespace

Stragglers stragglers(const Trace& trace, const AnalysedPart& part, const std::stop_token& stop)
{
    std::map<StringId, std::vector<Part>> byName;
    std::set<DeviceId> devices;
    bool exchanges = false;
    NameAnswers isComm(trace, [](std::string_view name) { return isCommunication(name); });
    NameAnswers isExchange(trace, [](std::string_view name) { return name.find("SendRecv") != name.npos; });
    for (const Track& track : trace.tracks())
        if (track.kind == TrackKind::Stream)
            forEachViewOf(
                trace, track.id, ActivityKind::Kernel,
                [&](const SliceView& kernel) {
                    if (!isComm(kernel.nameId()))
                        return;
                    if (isExchange(kernel.nameId())) {
                        exchanges = true;
                        return;
                    }
                    byName[kernel.nameId()].push_back({kernel.range(), track.device, kernel.id()});
                    devices.insert(track.device);
                },
                stop);
    if (stop.stop_requested())
        return {};
    Counting counting(part);
    for (auto& [name, parts] : byName) {
        std::stable_sort(parts.begin(), parts.end(), Counting::isEarlier);
        forEachCollective(parts, [&](std::span<const Part> kernels) { counting.takeOverlapping(kernels); });
    }
    Stragglers found = counting.result();
    if (devices.empty() && exchanges)
        found.cannotTell = "ranks only use kernels that send and receive (pipeline stages, all-to-all), which do not "
                           "start together by "
                           "design";
    else if (devices.empty())
        found.cannotTell = "the trace contains no kernels of collective communication";
    else if (devices.size() == 1)
        found.cannotTell =
            "the trace contains only one rank; merge the traces of several ranks to compare their arrival times";
    else if (found.collectives == 0)
        found.cannotTell = "no communication kernel overlaps one of the same name on another device";
    return found;
}

} // namespace profiler::analysis
