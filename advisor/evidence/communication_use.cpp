#include "advisor/evidence/communication_use.h"

#include "profiler/analysis/device/device_use.h"
#include "profiler/analysis/slice_queries.h"

#include <algorithm>

namespace advisor {

using namespace profiler;
using namespace profiler::analysis;

double overlapOf(std::span<const OnDevice> devices)
{
    Nanoseconds all{}, exposed{};
    for (const OnDevice& on : devices) {
        all += total(on.all);
        exposed += total(on.exposed);
    }
    return all.count() > 0 ? 1 - static_cast<double>(exposed.count()) / static_cast<double>(all.count()) : 0;
}

CommunicationUse communicationUse(const RuleContext& c)
{
    CommunicationUse use;
    const std::vector<Slice> kernels = ofKindNamed(c.trace, ActivityKind::Kernel, isCommunication);
    if (kernels.empty())
        return use; // the usual case: no need to look at other kernels
    use.devices = againstOwnKernels(c, kernels, [](std::string_view kernel) { return !isCommunication(kernel); });
    for (OnDevice& on : use.devices) {
        on.all = intersect(on.all, c.facts.device.window);
        on.exposed = intersect(on.exposed, c.facts.device.window);
    }
    std::erase_if(use.devices, [](const OnDevice& on) { return on.all.empty(); });
    for (const Slice& kernel : kernels)
        if (beginsWithin(kernel, c.facts.device.window))
            use.kernels.push_back(kernel);
    std::stable_sort(use.kernels.begin(), use.kernels.end(),
                     [](const Slice& a, const Slice& b) { return a.duration > b.duration; });
    return use;
}

} // namespace advisor
