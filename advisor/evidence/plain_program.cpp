#include "advisor/evidence/plain_program.h"

#include "advisor/evidence/run_facts.h"
#include "profiler/analysis/slice_queries.h"

#include <algorithm>

namespace advisor {
namespace {

using namespace profiler;

template <class Takes>
HostCopies collect(const RuleContext& c, Takes&& takes)
{
    HostCopies found;
    for (const Slice& copy : c.facts.device.copies) {
        const bool toDevice = copy.args.copy == CopyKind::HtoD;
        if ((!toDevice && copy.args.copy != CopyKind::DtoH) || !takes(copy, toDevice ? copy.args.src : copy.args.dst))
            continue;
        (toDevice ? found.bytesToDevice : found.bytesToHost) += copy.args.bytes;
        found.time += copy.duration;
        found.copies.push_back(copy);
    }
    found.devices = againstOwnKernels(c, found.copies);
    std::ranges::stable_sort(found.copies, std::ranges::greater(), &Slice::duration);
    return found;
}

} // namespace

bool isPlainProgram(const RuleContext& c)
{
    using analysis::hasKind;
    return !c.config && c.facts.statistics.count == 0 && !c.facts.device.kernels.empty() &&
           !containsTraining(c.trace) && !hasKind(c.trace, ActivityKind::Nvtx) &&
           !hasKind(c.trace, ActivityKind::UserAnnotation);
}

HostCopies hostCopies(const RuleContext& c)
{
    return collect(c, [](const Slice&, MemoryKind) { return true; });
}

HostCopies pageableHostCopies(const RuleContext& c, std::int64_t atLeast)
{
    return collect(c, [atLeast](const Slice& copy, MemoryKind host) {
        return host == MemoryKind::Pageable && copy.args.bytes >= atLeast;
    });
}

} // namespace advisor
