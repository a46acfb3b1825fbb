#include "profiler/analysis/operators/call_sites.h"

#include "profiler/analysis/device/device_use.h"
#include "profiler/analysis/operators/range_name.h"
#include "profiler/analysis/python_frame.h"
#include "profiler/analysis/slice_queries.h"
#include "profiler/analysis/statistics.h"
#include "profiler/analysis/steps/phases.h"
#include "profiler/analysis/steps/steps.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace profiler::analysis {

namespace {

bool isCall(ActivityKind kind)
{
    return kind == ActivityKind::CudaRuntime || kind == ActivityKind::CudaDriver;
}

/// True for the range that PyTorch's emit_nvtx() opens around an operator: "aten::empty", after an importer removed the
/// rest of the name.
bool isOperatorsRange(std::string_view name)
{
    return name.find("::") != name.npos;
}

/// The slices around a call.
struct Around {
    std::vector<std::string_view> ops; ///< outermost first
    std::string_view range;
    std::string_view phase;
};

using Key = std::tuple<std::vector<std::string_view>, std::string_view, std::string_view, StringId>;

/// Sums by call site.
class Sites {
public:
    void add(const Around& around, StringId call, Nanoseconds time, std::int64_t bytes, SliceId slice)
    {
        CallSite& site = m_sites[Key{around.ops, around.range, around.phase, call}];
        ++site.count;
        addSaturating(site.bytes, bytes);
        addSaturating(site.time, time);
        Nanoseconds& most = m_longest[&site];
        if (site.count == 1 || time > most) {
            most = time;
            site.longest = slice;
        }
    }

    [[nodiscard]] std::vector<CallSite> take(const Trace& trace, const AnalysedPart& part)
    {
        std::vector<CallSite> sites;
        for (auto& [key, site] : m_sites) {
            const auto& [ops, range, phase, call] = key;
            site.ops = chain(ops);
            site.range = range;
            site.phase = phase;
            site.call = trace.string(call);
            site.countPerStep = part.perStep(static_cast<double>(site.count));
            sites.push_back(std::move(site));
        }
        std::stable_sort(sites.begin(), sites.end(),
                         [](const CallSite& a, const CallSite& b) { return a.time > b.time; });
        return sites;
    }

private:
    /// The outermost operator is what the program called; the inner ones show how it reached the call.
    static std::string chain(const std::vector<std::string_view>& ops)
    {
        constexpr std::size_t kMost = 4;
        std::string text;
        for (std::size_t i = 0; i < ops.size(); ++i) {
            if (ops.size() > kMost && i > 0 && i + 2 < ops.size()) {
                text += i == 1 ? " > …" : "";
                continue;
            }
            text += (text.empty() ? "" : " > ") + std::string(ops[i]);
        }
        return text;
    }

    std::map<Key, CallSite> m_sites;
    std::unordered_map<const CallSite*, Nanoseconds> m_longest;
};

struct Memset {
    Slice slice;
    const LaunchCall* call = nullptr;
};

class Finding {
public:
    Finding(const Trace& trace, const LaunchCalls& calls, const AnalysedPart& part, const std::stop_token& stop)
        : m_trace(trace), m_part(part), m_stop(stop), m_phases(trace), m_waits(trace.stringCount()),
          m_python(trace.stringCount()), m_marks(trace.stringCount())
    {
        for (std::uint32_t id = 0; id < trace.stringCount(); ++id) {
            const std::string_view name = trace.string(StringId{id});
            m_waits[id] = isSyncCall(name) || isBlockingCopy(name);
            m_python[id] = pythonFrame(name).has_value();
            m_marks[id] = isProfilerStep(name);
        }
        findMemsets(calls);
        findWaits();
    }

    CallSitesOfTrace run()
    {
        for (const TrackId track : m_threads)
            walk(track);
        for (const Memset& memset : m_unlinked)
            m_memsetSites.add({}, StringId{}, memset.slice.duration, memset.slice.args.bytes, memset.slice.id);
        m_result.memsets.sites = m_memsetSites.take(m_trace, m_part);
        m_result.syncs.sites = m_syncSites.take(m_trace, m_part);
        explain();
        return std::move(m_result);
    }

private:
    void findMemsets(const LaunchCalls& calls)
    {
        const auto take = [&](const SliceView& view) {
            m_anyMemset = true;
            const LaunchCall* call = calls.find(view.correlation().value);
            if (!(call ? m_part.holdsOnHost(call->range.begin) : m_part.holds(view.begin())))
                return;
            const Memset memset{view.slice(), call};
            ++m_result.memsets.count;
            addSaturating(m_result.memsets.time, memset.slice.duration);
            if (call) {
                m_memsets.emplace(call->slice, memset);
                m_threads.insert(call->slice.track);
            } else {
                ++m_result.memsets.unlinked;
                m_unlinked.push_back(memset);
            }
        };
        for (const Track& track : m_trace.tracks())
            forEachViewOf(m_trace, track.id, ActivityKind::GpuMemset, take, m_stop);
    }

    /// Finds the threads that wait: by their calls or, if no such call is recorded, by the waits themselves.
    void findWaits()
    {
        const auto find = [&](ActivityKind kind, bool named) {
            const auto take = [&](const SliceView& call) {
                if (named && !m_waits[call.nameId().value])
                    return;
                m_anyWait = true;
                if (!m_part.holdsOnHost(call.begin()))
                    return;
                ++m_result.syncs.count;
                addSaturating(m_result.syncs.time, call.duration());
                m_threads.insert(call.id().track);
            };
            for (const Track& track : m_trace.tracks())
                if (track.kind == TrackKind::MainThread || track.kind == TrackKind::Thread)
                    forEachViewOf(m_trace, track.id, kind, take, m_stop);
        };
        find(ActivityKind::CudaRuntime, true);
        find(ActivityKind::CudaDriver, true);
        m_waitsAreCalls = m_anyWait;
        if (!m_waitsAreCalls)
            find(ActivityKind::Sync, false);
    }

    [[nodiscard]] bool isWait(ActivityKind kind, StringId name) const
    {
        return m_waitsAreCalls ? isCall(kind) && m_waits[name.value] : kind == ActivityKind::Sync;
    }

    void walk(TrackId track)
    {
        const auto wanted = [&](const SliceView& slice) {
            const ActivityKind kind = slice.kind();
            if (isCall(kind) || kind == ActivityKind::Sync)
                return isWait(kind, slice.nameId()) || m_memsets.contains(slice.id());
            return kind == ActivityKind::CpuOp || kind == ActivityKind::UserAnnotation || kind == ActivityKind::Nvtx ||
                   kind == ActivityKind::Phase || (kind == ActivityKind::Other && m_python[slice.nameId().value]);
        };
        const std::vector<SliceBrief> slices = briefsWhere(m_trace, track, wanted, m_stop);
        forEachNested(slices, [&](const NestedBrief& nested) { visit(nested); });
    }

    void visit(const NestedBrief& nested)
    {
        if (m_stop.stop_requested())
            return;
        const SliceBrief& slice = *nested.slice;
        if (isWait(slice.kind, slice.name)) {
            if (!m_part.holdsOnHost(slice.begin))
                return;
            const Around around = aroundOf(nested);
            m_syncSites.add(around, slice.name, slice.duration, 0, slice.id);
        }
        const auto [first, last] = m_memsets.equal_range(slice.id);
        if (first == last)
            return;
        const Around around = aroundOf(nested);
        for (auto memset = first; memset != last; ++memset)
            m_memsetSites.add(around, slice.name, memset->second.slice.duration, memset->second.slice.args.bytes,
                              memset->second.slice.id);
    }

    [[nodiscard]] Around aroundOf(const NestedBrief& nested) const
    {
        Around around;
        for (const SliceBrief* outer : nested.around) {
            const std::string_view phase = m_phases.of(outer->kind, outer->name);
            around.phase = phase.empty() ? around.phase : phase;
            if (m_marks[outer->name.value])
                continue;
            const std::string_view name = m_trace.string(outer->name);
            if (outer->kind == ActivityKind::CpuOp || (outer->kind == ActivityKind::Nvtx && isOperatorsRange(name)))
                around.ops.push_back(name);
            else if (outer->kind != ActivityKind::Phase)
                around.range = withoutNumber(name);
        }
        return around;
    }

    void explain()
    {
        if (m_result.memsets.sites.empty())
            m_result.memsets.cannotTell =
                m_anyMemset ? "no memset starts in the steps" : "the trace contains no device memsets";
        if (m_result.syncs.sites.empty())
            m_result.syncs.cannotTell =
                m_anyWait ? "no call in the steps waits for a device"
                : hasKind(m_trace, ActivityKind::CudaRuntime) || hasKind(m_trace, ActivityKind::CudaDriver)
                    ? "no recorded call waits for a device"
                    : "the trace contains no CUDA calls";
    }

    const Trace& m_trace;
    const AnalysedPart& m_part;
    const std::stop_token& m_stop;
    Phases m_phases;
    std::vector<bool> m_waits, m_python, m_marks; ///< by string id
    bool m_anyMemset = false, m_anyWait = false, m_waitsAreCalls = false;
    std::unordered_multimap<SliceId, Memset> m_memsets; ///< by the calls that launched them
    std::vector<Memset> m_unlinked;
    std::set<TrackId> m_threads; ///< threads with such calls
    Sites m_memsetSites, m_syncSites;
    CallSitesOfTrace m_result;
};

} // namespace

CallSitesOfTrace callSites(const Trace& trace, const LaunchCalls& calls, const AnalysedPart& part,
                           const std::stop_token& stop)
{
    return Finding(trace, calls, part, stop).run();
}

} // namespace profiler::analysis
