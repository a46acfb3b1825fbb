#include "advisor/evidence/memory_use.h"

#include "advisor/evidence/run_facts.h"
#include "advisor/numbers.h"
#include "advisor/verdict.h"
#include "profiler/analysis/slice_queries.h"
#include "profiler/model/counter_names.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <fmt/format.h>
#include <map>

namespace advisor {

using namespace profiler;

namespace {

constexpr double kFull = 0.9;   ///< share of the available memory
constexpr double kMuchMore = 2; ///< ratio of reserved to allocated memory
constexpr double kMebibyte = 1024.0 * 1024.0;

/// The device number at the start of a counter's name: "GPU 1 memory reserved" or "cuda:1 …".
std::optional<std::uint32_t> deviceOf(std::string_view name)
{
    for (const std::string_view mark : {"GPU ", "cuda:"})
        if (const auto at = name.find(mark); at != name.npos) {
            const std::string_view rest = name.substr(at + mark.size());
            std::uint32_t number = 0;
            if (std::from_chars(rest.data(), rest.data() + rest.size(), number).ec == std::errc())
                return number;
        }
    return std::nullopt;
}

double limitOf(const RuleContext& c, const Track& counter)
{
    if (const auto id = deviceOf(counter.name)) {
        for (const Device& device : c.trace.devices())
            if (device.id.value == *id)
                return static_cast<double>(device.memoryBytes);
        return 0;
    }
    const bool processors = counter.name == "memory" || counter.name == "peak memory";
    return processors && ranOnCpu(c) && c.config
               ? static_cast<double>((*c.config)[config::key::memoryLimit]) * kMebibyte
               : 0;
}

} // namespace

namespace {

/// Counts used bytes; a counter that started at 0 with the recording does not show how full the memory is.
bool showsMemoryUse(const Track& track)
{
    return track.kind == TrackKind::Counter && track.name.find("memory") != std::string::npos &&
           (track.unit.empty() || track.unit == "bytes") && !track.name.ends_with(counter::kSinceBegin);
}

/// The memory that PyTorch and our trainer allocate from their reserved memory.
bool isAllocated(const Track& track)
{
    return track.name.ends_with(" memory allocated");
}

struct OfDevice {
    std::optional<MemoryUse> allocated, any; ///< the fullest counter of each kind
};

void take(std::optional<MemoryUse>& fullest, const RuleContext& c, const Track& track, double limit)
{
    for (const CounterSample& sample : c.trace.counter(track.id))
        if (!fullest || sample.value > fullest->peakBytes)
            fullest = MemoryUse{.peakBytes = sample.value,
                                .limitBytes = limit,
                                .where = track.name,
                                .counter = track.id,
                                .peakAt = sample.time};
}

} // namespace

std::optional<MemoryUse> memoryUse(const RuleContext& c)
{
    std::map<std::int64_t, OfDevice> devices; // -1: the host
    for (const Track& track : c.trace.tracks()) {
        if (!showsMemoryUse(track))
            continue;
        const double limit = limitOf(c, track);
        if (limit <= 0)
            continue;
        const auto id = deviceOf(track.name);
        OfDevice& device = devices[id ? static_cast<std::int64_t>(*id) : -1];
        take(isAllocated(track) ? device.allocated : device.any, c, track, limit);
    }
    std::optional<MemoryUse> fullest;
    for (auto& [id, device] : devices) {
        MemoryUse use = device.allocated ? *device.allocated : device.any.value_or(MemoryUse{});
        if (device.allocated && device.any)
            use.reservedBytes = device.any->peakBytes;
        if (use.limitBytes > 0 && (!fullest || use.share() > fullest->share()))
            fullest = use;
    }
    return fullest;
}

Advice memoryNotRecorded(const RuleContext& c)
{
    if (!ranOnCpu(c))
        return cannotTell(
            message<"memory.not_recorded", "The trace does not record how much device memory was used.">(),
            Need::Memory);
    if (c.config)
        return cannotTell(message<"memory.no_limit", "The memory limit of the run is unknown.">(), Need::MemoryLimit);
    return cannotTell(message<"memory.machine_unknown",
                              "The memory limit is unknown: the trace does not record the machine's memory.">(),
                      Need::Program);
}

Evidence peakEvidence(const RuleContext& c, const MemoryUse& use)
{
    const TimeRange all = c.trace.range();
    const TraceTime at = std::clamp(use.peakAt, all.begin, all.end);
    return {.track = use.counter, .slice = std::nullopt, .range = {at, at}, .name = use.where};
}

std::optional<Advice> withoutFullMemory(const RuleContext& c, const std::optional<MemoryUse>& use)
{
    if (!use)
        return memoryNotRecorded(c);
    if (use->share() < kFull && use->reservedShare() >= kFull && use->reservedBytes >= kMuchMore * use->peakBytes)
        return silent(
            message<"memory.cached", "At most {allocated} of the memory was allocated; the caching allocator reserved "
                                     "{reserved}. It reuses reserved memory unless that is fragmented: "
                                     "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True prevents fragmentation.">(
                {{"allocated", use->share(), shareText(use->share())},
                 {"reserved", use->reservedShare(), shareText(use->reservedShare())}}));
    if (use->share() < kFull)
        return silent(message<"memory.not_full", "Peak memory use was {share} of the limit.">(
            {{"share", use->share(), shareText(use->share())}}));
    return std::nullopt;
}

namespace {

/// Recognizes a kernel of a backward pass or an optimizer by its name, because compiled code records no operators for
/// them.
bool isOfTraining(std::string_view kernel)
{
    std::string name(kernel);
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
    const auto has = [&](std::string_view mark) { return name.find(mark) != std::string::npos; };
    return has("backward") || has("grad_input") || has("adam");
}

bool namesTraining(std::string_view name)
{
    const auto has = [name](std::string_view mark) { return name.find(mark) != name.npos; };
    return has("autograd::engine") || has("Optimizer.step") || has("Backward") || has("GraphLaunch");
}

} // namespace

std::optional<Advice> withoutBackward(const RuleContext& c)
{
    if (c.config || !analysis::hasKind(c.trace, ActivityKind::CpuOp))
        return std::nullopt;
    const auto isBackward = [](std::string_view phase) { return phase == phase::kBackward; };
    if (analysis::anyName(c.trace, namesTraining) ||
        !analysis::ofKindNamed(c.trace, ActivityKind::Phase, isBackward).empty() ||
        !analysis::ofKindNamed(c.trace, ActivityKind::Kernel, isOfTraining).empty())
        return std::nullopt;
    return silent(
        message<"memory.inference",
                "The trace contains no backward pass and no optimizer, so no activations are kept for them.">());
}

Advice firesOnMemory(const RuleContext& c, const MemoryUse& use, profiler::Message reason)
{
    Advice advice = fires(std::move(reason));
    advice.objective = Objective::Memory;
    advice.whyNoPrediction =
        message<"memory.activations_unknown", "The trace does not record how much of the memory holds activations "
                                              "(level full records it in steps with operators): measure it.">();
    advice.evidence = {peakEvidence(c, use)};
    return advice;
}

} // namespace advisor
