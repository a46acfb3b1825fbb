#include "profiler/analysis/device/copy_bandwidth.h"

#include "profiler/analysis/slice_queries.h"
#include "profiler/analysis/statistics.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace profiler::analysis {

namespace {

constexpr std::int64_t kKiB = 1024, kMiB = 1024 * kKiB;
constexpr std::array<std::int64_t, kCopySizes> kFrom = {0, 64 * kKiB, kMiB, 16 * kMiB};
constexpr std::int64_t kLarge = kMiB;

void add(CopyClass::Sum& sum, const Slice& copy)
{
    ++sum.count;
    addSaturating(sum.bytes, std::max<std::int64_t>(copy.args.bytes, 0));
    addSaturating(sum.time, copy.duration);
}

std::size_t sizeOf(std::int64_t bytes)
{
    return static_cast<std::size_t>(std::upper_bound(kFrom.begin() + 1, kFrom.end(), bytes) - kFrom.begin() - 1);
}

void takeBest(std::vector<BestCopy>& best, const Slice& copy)
{
    if (copy.args.bytes < kLarge || copy.duration.count() <= 0)
        return;
    const double speed = static_cast<double>(copy.args.bytes) / static_cast<double>(copy.duration.count());
    const auto known =
        std::find_if(best.begin(), best.end(), [&](const BestCopy& row) { return row.kind == copy.args.copy; });
    if (known != best.end() && known->gbPerSecond >= speed)
        return;
    const BestCopy row{copy.args.copy, speed, copy.args.bytes, copy.args.src, copy.args.dst, copy.id};
    if (known == best.end())
        best.push_back(row);
    else
        *known = row;
}

/// The PCIe link of the devices, as reported by the driver during the recording.
std::optional<PcieLink> linkOf(const Trace& trace)
{
    std::optional<PcieLink> same;
    for (const Device& device : trace.devices()) {
        const auto entry = trace.metadata().find(PcieLink::key(device.uuid));
        const auto link = entry == trace.metadata().end() ? std::nullopt : PcieLink::fromText(entry->second);
        if (!link || (same && *same != *link))
            return std::nullopt;
        same = link;
    }
    return same;
}

} // namespace

std::string_view copySizeName(std::size_t size)
{
    constexpr std::array<std::string_view, kCopySizes> kNames = {"under 64 KiB", "64 KiB to 1 MiB", "1 to 16 MiB",
                                                                 "16 MiB and more"};
    return kNames[size];
}

const BestCopy* CopyBandwidth::bestOf(CopyKind kind) const
{
    const auto found = std::find_if(best.begin(), best.end(), [&](const BestCopy& row) { return row.kind == kind; });
    return found == best.end() ? nullptr : &*found;
}

bool CopyBandwidth::limitedByLink(CopyKind kind) const
{
    const BestCopy* measured = bestOf(kind);
    return link && (kind == CopyKind::HtoD || kind == CopyKind::DtoH) &&
           (!measured || measured->gbPerSecond <= link->gbPerSecond());
}

std::optional<double> CopyBandwidth::bestGbPerSecond(CopyKind kind) const
{
    if (limitedByLink(kind))
        return link->gbPerSecond();
    const BestCopy* measured = bestOf(kind);
    return measured ? std::optional(measured->gbPerSecond) : std::nullopt;
}

std::optional<double> CopyBandwidth::shareOfBest(const CopyClass::Sum& copies, CopyKind kind) const
{
    const std::optional<double> reference = bestGbPerSecond(kind);
    if (!reference || copies.time.count() <= 0)
        return std::nullopt;
    return std::min(copies.gbPerSecond() / *reference, 1.0);
}

CopyBandwidth copyBandwidth(const Trace& trace, const AnalysedPart& part, const std::stop_token& stop)
{
    std::map<std::tuple<CopyKind, MemoryKind, MemoryKind>, CopyClass> classes;
    CopyBandwidth result;
    result.link = linkOf(trace);
    bool any = false;
    const auto take = [&](const SliceView& view) {
        const Slice copy = view.slice();
        any = true;
        takeBest(result.best, copy);
        if (!part.holds(copy.begin))
            return;
        CopyClass& row = classes[{copy.args.copy, copy.args.src, copy.args.dst}];
        row.kind = copy.args.copy;
        row.src = copy.args.src;
        row.dst = copy.args.dst;
        if (row.all.count == 0 || copy.duration > row.longestTime) {
            row.longest = copy.id;
            row.longestTime = copy.duration;
        }
        add(row.all, copy);
        add(row.sizes[sizeOf(copy.args.bytes)], copy);
    };
    for (const Track& track : trace.tracks())
        forEachViewOf(trace, track.id, ActivityKind::GpuMemcpy, take, stop);
    for (auto& [key, row] : classes) {
        if (const auto reference = result.bestGbPerSecond(row.kind)) {
            const double least = static_cast<double>(row.all.bytes) / *reference;
            row.overBest = std::max(row.all.time - Nanoseconds{std::llround(least)}, Nanoseconds{0});
        }
        result.classes.push_back(row);
    }
    std::stable_sort(result.classes.begin(), result.classes.end(),
                     [](const CopyClass& a, const CopyClass& b) { return a.all.time > b.all.time; });
    if (result.classes.empty())
        result.cannotTell = any ? "no copy starts in the steps" : "the trace contains no copies";
    return result;
}

} // namespace profiler::analysis
