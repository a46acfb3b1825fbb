#include "profiler/analysis/operators/op_device_times.h"

#include "profiler/analysis/saturating.h"
#include "profiler/analysis/slice_queries.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace profiler::analysis {

namespace {

/// The duration of all device work by correlation id.
class WorkByCorrelation {
public:
    WorkByCorrelation(const Trace& trace, const std::stop_token& stop)
    {
        const auto take = [&](const SliceView& work) {
            if (const auto correlation = work.correlation().value; correlation != 0)
                m_work.push_back({correlation, work.duration()});
        };
        for (const Track& track : trace.tracks())
            for (const ActivityKind kind : {ActivityKind::Kernel, ActivityKind::GpuMemcpy, ActivityKind::GpuMemset})
                forEachViewOf(trace, track.id, kind, take, stop);
        sortRuns(m_work, [](const Work& a, const Work& b) { return a.correlation < b.correlation; });
        std::size_t last = 0;
        for (std::size_t i = 1; i < m_work.size(); ++i)
            if (m_work[i].correlation == m_work[last].correlation)
                addSaturating(m_work[last].duration, m_work[i].duration);
            else
                m_work[++last] = m_work[i];
        m_work.resize(m_work.empty() ? 0 : last + 1);
    }
    [[nodiscard]] bool empty() const { return m_work.empty(); }

    /// Zero if there is none. The second call with an id returns zero too: a runtime call contains a driver call with
    /// the same id.
    Nanoseconds take(std::uint64_t correlation)
    {
        const auto isHere = [&](std::size_t at) { return at < m_work.size() && m_work[at].correlation == correlation; };
        if (!isHere(m_next)) // ids mostly increase from call to call
            m_next = static_cast<std::size_t>(
                std::lower_bound(m_work.begin(), m_work.end(), correlation,
                                 [](const Work& work, std::uint64_t wanted) { return work.correlation < wanted; }) -
                m_work.begin());
        return isHere(m_next) ? std::exchange(m_work[m_next++].duration, Nanoseconds{}) : Nanoseconds{};
    }

private:
    struct Work {
        std::uint64_t correlation;
        Nanoseconds duration;
    };
    std::vector<Work> m_work; ///< by correlation id
    std::size_t m_next = 0;
};

struct Call {
    TraceTime begin;
    Nanoseconds duration;
    std::uint64_t correlation;
};

/// The calls of a track with a correlation id, outer ones first.
std::vector<Call> callsOf(const Trace& trace, TrackId track, const std::stop_token& stop)
{
    std::vector<Call> calls;
    const auto take = [&](const SliceView& call) {
        if (call.correlation().value != 0)
            calls.push_back({call.begin(), call.duration(), call.correlation().value});
    };
    for (const ActivityKind kind : {ActivityKind::CudaRuntime, ActivityKind::CudaDriver})
        forEachViewOf(trace, track, kind, take, stop);
    sortRuns(calls, [](const Call& a, const Call& b) {
        return std::tuple(a.begin, -a.duration) < std::tuple(b.begin, -b.duration);
    });
    return calls;
}

} // namespace

OpDeviceTimes::OpDeviceTimes(const Trace& trace, const std::stop_token& stop)
{
    WorkByCorrelation work(trace, stop);
    if (work.empty())
        return;
    for (const Track& track : trace.tracks()) {
        const std::vector<Call> calls = callsOf(trace, track.id, stop);
        if (calls.empty())
            continue;
        const auto ops = briefsWhere(
            trace, track.id, [](const SliceView& view) { return view.kind() == ActivityKind::CpuOp; }, stop);
        std::vector<std::pair<const SliceBrief*, Times>> around; // the operators around the current call
        const auto close = [&](TraceTime until) {
            while (!around.empty() && around.back().first->end() <= until) {
                const auto [op, times] = around.back();
                around.pop_back();
                if (times.total.count() > 0)
                    m_ops.push_back({op->id, times});
                if (!around.empty())
                    addSaturating(around.back().second.total, times.total);
            }
        };
        std::size_t next = 0;
        for (const Call& call : calls) {
            for (; next < ops.size() && ops[next].begin <= call.begin; ++next) {
                close(ops[next].begin);
                around.emplace_back(&ops[next], Times{});
            }
            close(call.begin);
            if (around.empty())
                continue;
            const Nanoseconds duration = work.take(call.correlation);
            addSaturating(around.back().second.self, duration);
            addSaturating(around.back().second.total, duration);
        }
        close(TraceTime::max());
    }
    std::sort(m_ops.begin(), m_ops.end(), [](const Entry& a, const Entry& b) { return a.op < b.op; });
}

std::optional<OpDeviceTimes::Times> OpDeviceTimes::find(SliceId op) const
{
    const auto found =
        std::lower_bound(m_ops.begin(), m_ops.end(), op, [](const Entry& entry, SliceId id) { return entry.op < id; });
    return found != m_ops.end() && found->op == op ? std::optional(found->times) : std::nullopt;
}

} // namespace profiler::analysis
