#include "advisor/experiment/common_work.h"

#include "advisor/numbers.h"
#include "profiler/analysis/intervals.h"
#include "profiler/analysis/operators/self_times.h"
#include "profiler/analysis/slice_queries.h"
#include "profiler/analysis/steps/step_marks.h"

#include <algorithm>
#include <map>
#include <utility>

namespace advisor {

namespace {

using namespace profiler;
using namespace profiler::analysis;

// Minimum share of the time in work that both traces contain: below it, they do different work.
constexpr double kSameWork = 0.1;

/// µs by kernel or operator.
using Work = std::map<std::string, double, std::less<>>;

/// Share of both traces' time in work that both contain; 1 if there is no work.
double commonShare(const Work& a, const Work& b)
{
    double all = 0, common = 0;
    for (const Work* work : {&a, &b})
        for (const auto& [name, us] : *work) {
            all += us;
            common += a.contains(name) && b.contains(name) ? us : 0;
        }
    return all > 0 ? common / all : 1;
}

Work kernelWork(const ActivityScan& scan)
{
    Work work;
    for (const KernelTotal& kernel : scan.kernels)
        work[kernel.name] += toUs(kernel.time);
    return work;
}

/// Self times of operators, by name and shapes.
class OperatorWork {
public:
    explicit OperatorWork(const Trace& trace) : m_trace(trace)
    {
        for (const Track& track : trace.tracks())
            if (track.kind == TrackKind::MainThread || track.kind == TrackKind::Thread)
                forEachNested(briefsWhere(trace, track.id,
                                          [](const SliceView& slice) { return slice.kind() == ActivityKind::CpuOp; }),
                              [&](const NestedBrief& nested) { add(nested); });
    }
    [[nodiscard]] bool hasShapes() const { return m_shapes; }
    [[nodiscard]] Work work(bool byShapes) const
    {
        Work work;
        for (const auto& [op, time] : m_times) {
            std::string name(m_trace.string(op.first));
            if (byShapes)
                name.append(1, ' ').append(m_trace.string(op.second));
            if (!isProfilerStep(m_trace.string(op.first)))
                work[std::move(name)] += toUs(time);
        }
        return work;
    }

private:
    void add(const NestedBrief& nested)
    {
        const StringId shapes = m_trace.slice(nested.slice->id).args.shapes;
        m_shapes = m_shapes || !m_trace.string(shapes).empty();
        m_times[{nested.slice->name, shapes}] += nested.self;
    }

    const Trace& m_trace;
    bool m_shapes = false;
    std::map<std::pair<StringId, StringId>, Nanoseconds> m_times;
};

} // namespace

Message differentWork(const Trace& a, const Trace& b, const ActivityScan& scanA, const ActivityScan& scanB)
{
    if (!scanA.kernels.empty() || !scanB.kernels.empty()) {
        const double share = commonShare(kernelWork(scanA), kernelWork(scanB));
        return share < kSameWork
                   ? message<"diff.not_comparable.kernels", "The traces do different work: only {share} of the time is "
                                                            "in kernels that both traces contain.">(
                         {{"share", share, shareText(share)}})
                   : Message{};
    }
    const OperatorWork opsA(a), opsB(b);
    const bool byShapes = opsA.hasShapes() && opsB.hasShapes();
    const Work workA = opsA.work(byShapes), workB = opsB.work(byShapes);
    if (!workA.empty() && !workB.empty()) {
        const double share = commonShare(workA, workB);
        return share < kSameWork
                   ? message<"diff.not_comparable.operators", "The traces do different work: only {share} of the time "
                                                              "is in operators that both traces contain.">(
                         {{"share", share, shareText(share)}})
                   : Message{};
    }
    if (a.metadata().contains("workload") && b.metadata().contains("workload"))
        return {};
    return message<"diff.not_comparable.work_unknown", "It is unknown whether the traces do the same work: they have "
                                                       "no kernels, no common operators and no model name.">();
}

} // namespace advisor
