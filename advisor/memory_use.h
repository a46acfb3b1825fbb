#pragma once

#include "advisor/advice.h"
#include "advisor/rule.h"

#include <optional>
#include <string>

namespace advisor {

/// How full the memory was that a training may use: the fullest device, or the processor's where a limit is set. By
/// what was allocated; what a caching allocator reserved beside it counts only where nothing else is recorded.
struct MemoryUse {
    double peakBytes = 0, limitBytes = 0;
    double reservedBytes = 0; ///< at most, where that is recorded beside what was allocated; else 0
    std::string where;        ///< "GPU 0 memory allocated", "memory"
    profiler::TrackId counter;
    profiler::TraceTime peakAt{};
    [[nodiscard]] double share() const { return limitBytes > 0 ? peakBytes / limitBytes : 0; }
    [[nodiscard]] double reservedShare() const { return limitBytes > 0 ? reservedBytes / limitBytes : 0; }
};
/// No value where the trace does not record both: memory taken, and how much there is. For a processor the latter is
/// batch.memory_limit.
std::optional<MemoryUse> memoryUse(const RuleContext& c);
/// What a rule about memory says where memoryUse() has no value.
Advice memoryNotRecorded(const RuleContext& c);
/// The sample at the peak, as evidence.
Evidence peakEvidence(const RuleContext& c, const MemoryUse& use);
/// What a rule about memory says where its filling is not known or at most nine tenths, from which on NVIDIA's and
/// TraceML's advisors warn; no value when there is something to advise. Memory that is full only of what the allocator
/// keeps is said to be so.
std::optional<Advice> withoutFullMemory(const RuleContext& c, const std::optional<MemoryUse>& use);
/// What a rule about training's memory says of an imported trace that records operators but no backward pass and no
/// optimizer: inference. No value for a training, or where operators were not recorded.
std::optional<Advice> withoutBackward(const RuleContext& c);
/// A finding about memory: judged by it, with the peak as evidence.
Advice firesOnMemory(const RuleContext& c, const MemoryUse& use, profiler::Message reason);

} // namespace advisor
