#include "advisor/evidence/gpu_facts.h"

#include "advisor/evidence/run_facts.h"
#include "advisor/verdict.h"
#include "profiler/analysis/device/device_use.h"
#include "profiler/analysis/intervals.h"
#include "profiler/analysis/slice_queries.h"
#include "profiler/analysis/statistics.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>

namespace advisor {

using namespace profiler;
using namespace profiler::analysis;

namespace {

/// The minimum compute capability of a kernel, from its name: "sm80_xmma_gemm_…", "cutlass_80_tensorop_…", TF32, the
/// 16×8×16 products of tensor cores. Older architectures prove nothing, because newer devices run those kernels as
/// well. Sources: NVIDIA's PTX ISA 8.5, section 9.7.14 (mma: .tf32 and .m16n8k16 need sm_80); kernel names of cuBLAS
/// and CUTLASS contain the architecture that they are built for.
int capabilityOfKernel(std::string_view name)
{
    struct Mark {
        std::string_view text;
        bool atBegin;
        int capability;
    };
    constexpr std::array<Mark, 10> kMarks = {{{"sm100_", true, 100},
                                              {"cutlass3x_sm100", false, 100},
                                              {"sm90_", true, 90},
                                              {"cutlass3x_sm90", false, 90},
                                              {"cutlass_90_", false, 90},
                                              {"sm80_", true, 80},
                                              {"ampere_", true, 80},
                                              {"cutlass_80_", false, 80},
                                              {"tf32", false, 80},
                                              {"16816", false, 80}}};
    for (const Mark& mark : kMarks)
        if (mark.atBegin ? name.starts_with(mark.text) : name.find(mark.text) != name.npos)
            return mark.capability;
    return 0;
}

std::optional<int> capabilityByKernels(const Trace& trace)
{
    NameAnswers needs(trace, capabilityOfKernel);
    int most = 0;
    for (const Track& track : trace.tracks())
        if (track.kind == TrackKind::Stream)
            forEachViewOf(trace, track.id, ActivityKind::Kernel,
                          [&](const SliceView& kernel) { most = std::max(most, needs(kernel.nameId())); });
    return most > 0 ? std::optional(most) : std::nullopt;
}

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

std::optional<Advice> withoutDeviceWork(const RuleContext& c, profiler::Message onTheCpu)
{
    if (c.facts.device.hasWork())
        return std::nullopt;
    if (ranOnCpu(c))
        return silent(std::move(onTheCpu));
    return cannotTell(deviceNotRecorded(c), Need::KernelsAndHost);
}

profiler::Message deviceNotRecorded(const RuleContext& c)
{
    if (!c.config && c.trace.devices().empty() && !containsTraining(c.trace))
        return message<"device.no_training", "The trace contains no operators, no training phases and no GPU work.">();
    if (c.config)
        return message<"device.nothing_ran", "The run requested a GPU, but the trace contains no GPU work.">();
    return message<"device.not_recorded", "The program had a GPU, but its work was not recorded.">();
}

std::optional<int> computeCapability(const RuleContext& c)
{
    int least = 0;
    for (const Device& device : c.trace.devices()) {
        const int capability = device.computeMajor * 10 + device.computeMinor;
        if (device.computeMajor == 0)
            return capabilityByKernels(c.trace);
        least = least == 0 ? capability : std::min(least, capability);
    }
    return least == 0 ? capabilityByKernels(c.trace) : std::optional(least);
}

bool ranOnAmd(const RuleContext& c)
{
    const std::span<const Device> devices = c.trace.devices();
    const auto isAmd = [](const Device& device) {
        return device.name.find("AMD") != std::string::npos || device.name.find("Radeon") != std::string::npos;
    };
    if (std::any_of(devices.begin(), devices.end(), [](const Device& device) { return !device.name.empty(); }))
        return std::any_of(devices.begin(), devices.end(), isAmd);
    return anyName(c.trace, [](std::string_view name) {
        return name.starts_with("hipLaunchKernel") || name.starts_with("hipModuleLaunchKernel") ||
               name.starts_with("hipExtModuleLaunchKernel") || name.starts_with("Cijk_");
    });
}

double shareOfTime(const RuleContext& c, double shareOfWork)
{
    const auto& device = c.facts.device;
    if (device.work.all.count == 0 || device.windowTime().count() == 0)
        return shareOfWork * (1 - c.facts.input.waitShare);
    return shareOfWork * profiler::analysis::toUs(total(intersect(device.kernels, device.window))) /
           profiler::analysis::toUs(device.windowTime());
}

CopyUse copyUse(const RuleContext& c, CopyKind kind, std::optional<MemoryKind> source, std::int64_t atLeast)
{
    CopyUse use;
    std::vector<Slice> copies;
    const DeviceFacts& device = c.facts.device;
    for (const Slice& copy : device.copies) {
        if (copy.args.copy != kind || (source && copy.args.src != *source) || copy.args.bytes < atLeast)
            continue;
        // Copies before the first kernel upload the weights, which happens once; with step marks, they are outside the
        // steps anyway.
        if (device.steps.empty() && (device.kernels.empty() || copy.begin < device.kernels.front().begin))
            continue;
        ++use.count;
        use.bytes += copy.args.bytes;
        use.time += copy.duration;
        copies.push_back(copy);
    }
    for (const OnDevice& on : againstOwnKernels(c, copies)) {
        use.exposed += total(on.exposed);
        ++use.devices;
    }
    std::stable_sort(copies.begin(), copies.end(),
                     [](const Slice& a, const Slice& b) { return a.duration > b.duration; });
    for (std::size_t i = 0; i < std::min(copies.size(), kMostEvidence); ++i)
        use.longest.push_back(copies[i].id);
    return use;
}

std::vector<OnDevice> againstOwnKernels(const RuleContext& c, std::span<const Slice> work,
                                        bool (*hides)(std::string_view kernel))
{
    std::map<DeviceId, UnionBuilder> times, kernels;
    for (const Slice& slice : work)
        times[c.trace.track(slice.id.track).device].add(slice.range());
    if (times.empty())
        return {};
    NameAnswers counts(c.trace, [hides](std::string_view name) { return !hides || hides(name); });
    for (const Track& track : c.trace.tracks())
        if (track.kind == TrackKind::Stream && times.contains(track.device))
            forEachViewOf(c.trace, track.id, ActivityKind::Kernel, [&](const SliceView& kernel) {
                if (counts(kernel.nameId()))
                    kernels[track.device].add(kernel.range());
            });
    std::vector<OnDevice> devices;
    for (auto& [id, time] : times) {
        OnDevice& on = devices.emplace_back();
        on.all = time.take();
        on.exposed = subtract(on.all, kernels[id].take());
    }
    return devices;
}

Nanoseconds meanExposed(std::span<const OnDevice> devices)
{
    Nanoseconds sum{};
    for (const OnDevice& on : devices)
        sum += total(on.exposed);
    return devices.empty() ? sum : sum / static_cast<std::int64_t>(devices.size());
}

std::vector<double> insideEachStep(const RuleContext& c, const Intervals& time)
{
    std::vector<double> inside;
    for (const TimeRange& step : c.facts.device.steps) {
        const std::vector<TimeRange> range{step};
        inside.push_back(toUs(total(intersect(range, overlapping(time, step)))));
    }
    return inside;
}

std::vector<double> exposedInEachStep(const RuleContext& c, std::span<const OnDevice> devices)
{
    std::vector<double> means(c.facts.device.steps.size());
    for (const OnDevice& on : devices) {
        const std::vector<double> us = insideEachStep(c, on.exposed);
        for (std::size_t i = 0; i < us.size(); ++i)
            means[i] += us[i] / static_cast<double>(devices.size());
    }
    return means;
}

std::string detail(const Trace& trace, SliceId slice, std::string_view key)
{
    const auto details = trace.details(slice);
    if (!details)
        return {};
    const auto found =
        std::find_if(details->begin(), details->end(), [&](const auto& entry) { return entry.first == key; });
    return found == details->end() ? std::string() : found->second;
}

std::vector<std::string> listEntries(std::string_view list)
{
    std::vector<std::string> entries;
    if (list.size() < 2 || list.front() != '[' || list.back() != ']')
        return entries;
    list = list.substr(1, list.size() - 2);
    int depth = 0;
    bool quoted = false, any = false;
    std::string entry;
    for (const char ch : list) {
        any = true;
        if (ch == '"') {
            quoted = !quoted;
        } else if (ch == ',' && depth == 0 && !quoted) {
            entries.push_back(std::exchange(entry, {}));
        } else if (ch != ' ' || quoted || depth > 0) {
            depth += quoted ? 0 : ch == '[' ? 1 : ch == ']' ? -1 : 0;
            entry += ch;
        }
    }
    if (any)
        entries.push_back(std::move(entry));
    return entries;
}

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
