#include "advisor/memory_use.h"

#include "advisor/numbers.h"
#include "advisor/run_facts.h"
#include "advisor/verdict.h"
#include "profiler/analysis/slice_queries.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>

namespace advisor {

using namespace profiler;

namespace {

constexpr double kFull = 0.9; ///< of the memory that there is
constexpr double kMebibyte = 1024.0 * 1024.0;

/// Device number that a counter's name begins with: "GPU 1 memory reserved" or "cuda:1 …".
std::optional<std::uint32_t> deviceOf(std::string_view name)
{
    for (const std::string_view mark : {"GPU ", "cuda:"})
        if (const auto at = name.find(mark); at != name.npos) {
            const std::string_view rest = name.substr(at + mark.size());
            if (!rest.empty() && rest.front() >= '0' && rest.front() <= '9')
                return static_cast<std::uint32_t>(rest.front() - '0');
        }
    return std::nullopt;
}

double limitOf(const Case& c, const Track& counter)
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

std::optional<MemoryUse> memoryUse(const Case& c)
{
    std::optional<MemoryUse> fullest;
    for (const Track& track : c.trace.tracks()) {
        if (track.kind != TrackKind::Counter || track.name.find("memory") == std::string::npos)
            continue;
        const double limit = limitOf(c, track);
        if (limit <= 0)
            continue;
        for (const CounterSample& sample : c.trace.counter(track.id))
            if (!fullest || sample.value / limit > fullest->share())
                fullest = MemoryUse{sample.value, limit, track.name, track.id, sample.time};
    }
    return fullest;
}

std::string memoryNotRecorded(const Case& c)
{
    if (ranOnCpu(c))
        return "How much memory the run may take is not known: set batch.memory_limit to have it judged.";
    return "The trace does not record how much of the device's memory was taken (record at the level full).";
}

Evidence peakEvidence(const Case& c, const MemoryUse& use)
{
    const TimeRange all = c.trace.range();
    const TraceTime at = std::clamp(use.peakAt, all.begin, all.end);
    return {.track = use.counter, .slice = std::nullopt, .range = {at, at}, .name = use.where};
}

std::optional<Advice> withoutFullMemory(const Case& c, const std::optional<MemoryUse>& use)
{
    if (!use)
        return cannotTell(memoryNotRecorded(c));
    if (use->share() < kFull)
        return silent(fmt::format("Memory was at most {} full.", shareText(use->share())));
    return std::nullopt;
}

namespace {

/// A kernel of a backward pass or an optimizer, by its name: compiled code records no operators of them.
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

std::optional<Advice> withoutBackward(const Case& c)
{
    if (c.config || !analysis::hasKind(c.trace, ActivityKind::CpuOp))
        return std::nullopt;
    const auto isBackward = [](std::string_view phase) { return phase == phase::kBackward; };
    if (analysis::anyName(c.trace, namesTraining) ||
        !analysis::ofKindNamed(c.trace, ActivityKind::Phase, isBackward).empty() ||
        !analysis::ofKindNamed(c.trace, ActivityKind::Kernel, isOfTraining).empty())
        return std::nullopt;
    return silent("The trace shows no backward pass and no optimizer: nothing is kept for them.");
}

Advice firesOnMemory(const Case& c, const MemoryUse& use, std::string reason)
{
    Advice advice = fires(std::move(reason));
    advice.judgedBy = JudgedBy::Memory;
    advice.whyNoPrediction =
        "How much of the memory are activations is not recorded (it is at the level full, in steps "
        "with operators): measure it.";
    advice.evidence = {peakEvidence(c, use)};
    return advice;
}

} // namespace advisor
