#include "profiler/analysis/transfers.h"

#include "profiler/analysis/device_use.h"
#include "profiler/analysis/intervals.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace profiler::analysis {

std::vector<Transfer> transfers(const Trace& trace)
{
    std::map<std::tuple<CopyKind, MemoryKind, MemoryKind>, Transfer> rows;
    for (const Slice& copy : trace.ofKind(ActivityKind::GpuMemcpy)) {
        const SliceArgs& args = copy.args;
        Transfer& row = rows[{args.copy, args.src, args.dst}];
        row.kind = args.copy;
        row.src = args.src;
        row.dst = args.dst;
        ++row.count;
        row.bytes += args.bytes;
        row.time += copy.duration;
    }
    std::vector<Transfer> result;
    for (const auto& [key, row] : rows)
        result.push_back(row);
    std::stable_sort(result.begin(), result.end(),
                     [](const Transfer& a, const Transfer& b) { return a.time > b.time; });
    return result;
}

std::vector<KernelTotal> topKernels(const Trace& trace, std::size_t most)
{
    std::map<StringId, KernelTotal> rows;
    for (const Slice& kernel : trace.ofKind(ActivityKind::Kernel)) {
        KernelTotal& row = rows[kernel.name];
        ++row.count;
        row.time += kernel.duration;
    }
    std::vector<KernelTotal> result;
    for (auto& [name, row] : rows) {
        row.name = trace.string(name);
        result.push_back(std::move(row));
    }
    std::stable_sort(result.begin(), result.end(),
                     [](const KernelTotal& a, const KernelTotal& b) { return a.time > b.time; });
    result.resize(std::min(result.size(), most));
    return result;
}

Communication communication(const Trace& trace)
{
    std::map<DeviceId, std::vector<TimeRange>> collective, computing;
    Communication result;
    for (const Slice& kernel : trace.ofKind(ActivityKind::Kernel)) {
        const bool isCollective = isCommunication(trace.name(kernel));
        result.kernels += isCollective;
        (isCollective ? collective : computing)[trace.track(kernel.id.track).device].push_back(kernel.range());
    }
    for (auto& [device, ranges] : collective) {
        const Intervals united = unite(std::move(ranges));
        result.time += total(united);
        result.exposed += total(subtract(united, unite(std::move(computing[device]))));
    }
    return result;
}

} // namespace profiler::analysis
