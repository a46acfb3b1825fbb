#include "profiler/analysis/device/activity_scan.h"

#include "profiler/analysis/device/device_use.h"
#include "profiler/analysis/slice_queries.h"
#include "profiler/analysis/statistics.h"
#include "profiler/analysis/steps/phases.h"
#include "profiler/analysis/steps/steps.h"
#include "profiler/model/parallel.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <numeric>
#include <tuple>

namespace profiler::analysis {

namespace {

constexpr Nanoseconds kShort{10'000};

/// The classification of names, evaluated once for each string of the trace.
class NameClasses {
public:
    enum : unsigned char {
        kCommunication = 1,
        kSync = 2,
        kBlockingCopy = 4,
        kAllocation = 8,
        kStepMark = 16,
        kCodeLoading = 32,
        kCommunicates = 64,
        kOperator = 128
    };
    explicit NameClasses(const Trace& trace) : m_classes(trace.stringCount())
    {
        for (std::uint32_t id = 0; id < m_classes.size(); ++id) {
            const std::string_view name = trace.string(StringId{id});
            m_classes[id] = static_cast<unsigned char>(
                (isCommunication(name) ? kCommunication : 0) | (isSyncCall(name) ? kSync : 0) |
                (isBlockingCopy(name) ? kBlockingCopy : 0) | (isAllocation(name) ? kAllocation : 0) |
                (isProfilerStep(name) ? kStepMark : 0) | (isCodeLoading(name) ? kCodeLoading : 0) |
                (isCommunicationCall(name) ? kCommunicates : 0) | (isOperatorRange(name) ? kOperator : 0));
        }
    }
    [[nodiscard]] bool is(const SliceView& slice, unsigned char what) const
    {
        return (m_classes[slice.nameId().value] & what) != 0;
    }

private:
    std::vector<unsigned char> m_classes; ///< by string id
};

/// The kernels of one name.
struct NameTotal {
    KindTotal sum;
    SliceId longest;
    Nanoseconds longestDuration{-1};

    void add(const NameTotal& more)
    {
        sum.count += more.sum.count;
        addSaturating(sum.time, more.sum.time);
        if (more.longestDuration > longestDuration) {
            longest = more.longest;
            longestDuration = more.longestDuration;
        }
    }
};

/// Sums by name id, in pages that are allocated on first use: a trace may have a hundred kernel names among millions of
/// strings.
class NameTotals {
public:
    /// All ids will be below `count`.
    void expect(std::uint32_t count) { m_pages.resize((count + kPage - 1) / kPage); }
    NameTotal& operator[](std::uint32_t id)
    {
        auto& page = m_pages[id / kPage];
        if (!page)
            page = std::make_unique<Page>();
        return (*page)[id % kPage];
    }
    /// Calls visit(id, total) for each nonzero total, by id.
    template <class Visit>
    void forEach(Visit&& visit) const
    {
        for (std::size_t i = 0; i < m_pages.size(); ++i)
            for (std::uint32_t k = 0; m_pages[i] && k < kPage; ++k)
                if ((*m_pages[i])[k].sum.count > 0)
                    visit(static_cast<std::uint32_t>(i * kPage + k), (*m_pages[i])[k]);
    }

private:
    static constexpr std::uint32_t kPage = 64;
    using Page = std::array<NameTotal, kPage>;
    std::vector<std::unique_ptr<Page>> m_pages;
};

/// The part of the result that one thread computes.
struct Part {
    ActivityScan scan;
    std::map<std::tuple<CopyKind, MemoryKind, MemoryKind>, Transfer> transfers;
    NameTotals kernels;
    struct {
        UnionBuilder calls, dataWaits, work, syncs, blockingCopies, allocations, codeLoading, communication;
    } host;
    struct DeviceUnions {
        UnionBuilder kernels, communication, copies, memsets;
        int streams = 0;
    };
    std::map<DeviceId, DeviceUnions> devices;
};

void addTo(KindTotal& total, const SliceView& slice)
{
    ++total.count;
    addSaturating(total.time, slice.duration());
}

class Walker {
public:
    Walker(const Trace& trace, const NameClasses& names, const Phases& phases, Part& part)
        : m_trace(trace), m_names(names), m_phases(phases), m_part(part)
    {
        part.kernels.expect(trace.stringCount());
    }

    void walk(const Track& track)
    {
        const bool host = track.kind == TrackKind::MainThread || track.kind == TrackKind::Thread;
        Part::DeviceUnions* device = track.kind == TrackKind::Stream ? &m_part.devices[track.device] : nullptr;
        bool worked = false;
        m_callEnd = TraceTime::min();
        forEachView(m_trace, track.id, [&](const SliceView& slice) {
            const ActivityKind kind = slice.kind();
            addTo(m_part.scan.kinds[static_cast<std::size_t>(kind)], slice);
            if (isDeviceWork(kind))
                worked = addDeviceWork(slice, kind, device) || worked;
            else
                addHostWork(slice, kind, host);
        });
        if (device && worked)
            ++device->streams;
    }

private:
    bool addDeviceWork(const SliceView& slice, ActivityKind kind, Part::DeviceUnions* device)
    {
        const bool communicates = kind == ActivityKind::Kernel && m_names.is(slice, NameClasses::kCommunication);
        if (kind == ActivityKind::Kernel) {
            m_part.scan.shortKernels += slice.duration() < kShort;
            m_part.scan.communicationKernels += communicates;
            NameTotal& total = m_part.kernels[slice.nameId().value];
            addTo(total.sum, slice);
            if (slice.duration() > total.longestDuration) {
                total.longest = slice.id();
                total.longestDuration = slice.duration();
            }
        } else if (kind == ActivityKind::GpuMemcpy) {
            addTransfer(slice.slice());
        }
        if (!device)
            return false;
        UnionBuilder& times = communicates                      ? device->communication
                              : kind == ActivityKind::Kernel    ? device->kernels
                              : kind == ActivityKind::GpuMemcpy ? device->copies
                                                                : device->memsets;
        times.add(slice.range());
        return true;
    }

    void addTransfer(const Slice& slice)
    {
        const SliceArgs& args = slice.args;
        Transfer& row = m_part.transfers[{args.copy, args.src, args.dst}];
        row.kind = args.copy;
        row.src = args.src;
        row.dst = args.dst;
        ++row.count;
        addSaturating(row.bytes, args.bytes);
        addSaturating(row.time, slice.duration);
    }

    void addHostWork(const SliceView& slice, ActivityKind kind, bool host)
    {
        const TimeRange range = slice.range();
        if (host && m_phases.isDataWait(slice)) {
            addTo(m_part.scan.dataWaits, slice);
            m_part.host.dataWaits.add(range);
            return;
        }
        if (host && m_names.is(slice, NameClasses::kCommunicates))
            m_part.host.communication.add(range);
        switch (kind) {
        case ActivityKind::Overhead: // of the process, usually on a separate row
            if (m_names.is(slice, NameClasses::kCodeLoading))
                m_part.host.codeLoading.add(range);
            return;
        case ActivityKind::CudaRuntime:
        case ActivityKind::CudaDriver:
            addCall(slice, host);
            return;
        case ActivityKind::Sync:
            addTo(m_part.scan.waits, slice);
            if (host) {
                m_part.host.calls.add(range);
                m_part.host.syncs.add(range);
            }
            return;
        case ActivityKind::CpuOp:
        case ActivityKind::Phase:
            if (host && !m_names.is(slice, NameClasses::kStepMark))
                m_part.host.work.add(range);
            return;
        case ActivityKind::Nvtx:
            if (host && m_names.is(slice, NameClasses::kOperator))
                m_part.host.work.add(range);
            return;
        default:
            return;
        }
    }

    void addCall(const SliceView& slice, bool host)
    {
        const bool sync = m_names.is(slice, NameClasses::kSync);
        const bool copy = !sync && m_names.is(slice, NameClasses::kBlockingCopy);
        // A runtime call waits and copies through a driver call inside it: that counts as one wait, not two.
        const bool isInner = slice.end() <= m_callEnd;
        m_callEnd = std::max(m_callEnd, slice.end());
        if (sync && !isInner)
            addTo(m_part.scan.syncCalls, slice);
        else if (copy && !isInner)
            addTo(m_part.scan.blockingCopyCalls, slice);
        if (!host)
            return;
        m_part.host.calls.add(slice.range());
        if (sync)
            m_part.host.syncs.add(slice.range());
        else if (copy)
            m_part.host.blockingCopies.add(slice.range());
        else if (m_names.is(slice, NameClasses::kAllocation))
            m_part.host.allocations.add(slice.range());
        else if (m_names.is(slice, NameClasses::kCodeLoading))
            m_part.host.codeLoading.add(slice.range());
    }

    const Trace& m_trace;
    const NameClasses& m_names;
    const Phases& m_phases;
    Part& m_part;
    TraceTime m_callEnd{}; ///< end of the track's last outermost call
};

void mergeTotals(ActivityScan& all, const ActivityScan& part)
{
    const auto add = [](KindTotal& sum, const KindTotal& more) {
        sum.count += more.count;
        addSaturating(sum.time, more.time);
    };
    for (std::size_t i = 0; i < all.kinds.size(); ++i)
        add(all.kinds[i], part.kinds[i]);
    add(all.dataWaits, part.dataWaits);
    add(all.syncCalls, part.syncCalls);
    add(all.blockingCopyCalls, part.blockingCopyCalls);
    add(all.waits, part.waits);
    all.shortKernels += part.shortKernels;
    all.communicationKernels += part.communicationKernels;
}

void mergePart(ActivityScan& all, Part& part)
{
    mergeTotals(all, part.scan);
    const auto add = [](Intervals& sum, UnionBuilder& more) { sum = unite(std::move(sum), more.take()); };
    add(all.host.calls, part.host.calls);
    add(all.host.dataWaits, part.host.dataWaits);
    add(all.host.work, part.host.work);
    add(all.host.syncs, part.host.syncs);
    add(all.host.blockingCopies, part.host.blockingCopies);
    add(all.host.allocations, part.host.allocations);
    add(all.host.codeLoading, part.host.codeLoading);
    add(all.host.communication, part.host.communication);
    for (auto& [id, unions] : part.devices) {
        if (unions.streams == 0)
            continue;
        DeviceActivity& device = all.devices[id];
        device.streams += unions.streams;
        add(device.kernels, unions.kernels);
        add(device.communication, unions.communication);
        add(device.copies, unions.copies);
        add(device.memsets, unions.memsets);
    }
}

/// Merges the table rows of all parts and sorts them, largest first.
void mergeTables(const Trace& trace, std::vector<Part>& parts, ActivityScan& all)
{
    Part& first = parts.front();
    for (std::size_t i = 1; i < parts.size(); ++i) {
        parts[i].kernels.forEach([&](std::uint32_t id, const NameTotal& more) { first.kernels[id].add(more); });
        for (const auto& [key, row] : parts[i].transfers) {
            Transfer& sum = first.transfers[key];
            const Transfer before = sum;
            sum = row;
            sum.count += before.count;
            addSaturating(sum.bytes, before.bytes);
            addSaturating(sum.time, before.time);
        }
    }
    first.kernels.forEach([&](std::uint32_t id, const NameTotal& total) {
        all.kernels.push_back(
            {std::string(trace.string(StringId{id})), total.sum.count, total.sum.time, total.longest});
    });
    for (const auto& [key, row] : first.transfers)
        all.transfers.push_back(row);
    const auto larger = [](const auto& a, const auto& b) { return a.time > b.time; };
    std::stable_sort(all.kernels.begin(), all.kernels.end(), larger);
    std::stable_sort(all.transfers.begin(), all.transfers.end(), larger);
}

/// True if NCCL is called but runs no kernel, as in a group of one rank: its calls do not wait for other ranks. False
/// with Gloo and MPI, which exchange data on the host.
bool exchangesNothing(const Trace& trace, const ActivityScan& scan)
{
    const auto begins = [&trace](std::string_view mark) {
        return anyName(trace, [mark](std::string_view name) { return name.starts_with(mark); });
    };
    return scan.communicationKernels == 0 && begins("nccl:") && !begins("gloo:") && !begins("mpi:");
}

} // namespace

Intervals DeviceActivity::allKernels() const
{
    return unite(kernels, communication);
}

Intervals DeviceActivity::any() const
{
    return unite(unite(allKernels(), copies), memsets);
}

ActivityScan scanActivity(const Trace& trace, unsigned threads)
{
    const NameClasses names(trace);
    const Phases phases(trace);
    std::vector<TrackId> order; // largest first, so that no thread gets a large track at the end
    for (const Track& track : trace.tracks())
        order.push_back(track.id);
    std::stable_sort(order.begin(), order.end(),
                     [&](TrackId a, TrackId b) { return trace.sliceCount(a) > trace.sliceCount(b); });
    std::vector<Part> parts(std::max(1U, threads));
    std::atomic<std::size_t> next = 0;
    const auto work = [&](Part& part) {
        Walker walker(trace, names, phases, part);
        for (std::size_t i = next++; i < order.size(); i = next++)
            walker.walk(trace.track(order[i]));
    };
    parallelFor(parts.size(), static_cast<unsigned>(parts.size()), [&](std::size_t i) { work(parts[i]); });
    ActivityScan all;
    for (Part& part : parts)
        mergePart(all, part);
    mergeTables(trace, parts, all);
    if (exchangesNothing(trace, all))
        all.host.communication.clear();
    return all;
}

Communication communication(const ActivityScan& scan)
{
    Communication result;
    result.kernels = scan.communicationKernels;
    for (const auto& [id, device] : scan.devices) {
        result.time += total(device.communication);
        result.exposed += total(subtract(device.communication, device.kernels));
    }
    return result;
}

} // namespace profiler::analysis
