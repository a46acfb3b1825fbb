#include "advisor/communication_use.h"

#include "profiler/analysis/device_use.h"
#include "profiler/analysis/slice_queries.h"

#include <algorithm>

namespace advisor {

using namespace profiler;
using namespace profiler::analysis;

double CommunicationUse::overlap() const
{
    return time.count() > 0 ? 1 - static_cast<double>(total(exposed).count()) / static_cast<double>(time.count()) : 0;
}

CommunicationUse communicationUse(const Case& c)
{
    CommunicationUse use;
    const std::vector<Slice> kernels = ofKindNamed(c.trace, ActivityKind::Kernel, isCommunication);
    if (kernels.empty())
        return use; // most trainings: other kernels need no look
    UnionBuilder computing;
    NameAnswers communicates(c.trace, isCommunication);
    for (const Track& track : c.trace.tracks())
        forEachViewOf(c.trace, track.id, ActivityKind::Kernel, [&](const SliceView& kernel) {
            if (!communicates(kernel.nameId()))
                computing.add(kernel.range());
        });
    std::vector<TimeRange> communication;
    for (const Slice& kernel : kernels) {
        communication.push_back(kernel.range());
        if (beginsWithin(kernel, c.facts.device.window))
            use.kernels.push_back(kernel);
    }
    const Intervals all = intersect(unite(std::move(communication)), c.facts.device.window);
    use.time = total(all);
    use.exposed = subtract(all, computing.take());
    std::stable_sort(use.kernels.begin(), use.kernels.end(),
                     [](const Slice& a, const Slice& b) { return a.duration > b.duration; });
    return use;
}

} // namespace advisor
