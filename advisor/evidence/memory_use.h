#pragma once

#include "advisor/advice.h"
#include "advisor/rule.h"

#include <optional>
#include <string>

namespace advisor {

/// How full the memory available for training was: on the fullest device, or on the host if a limit is set. Based on
/// allocated memory; the memory that a caching allocator reserved in addition counts only if nothing else is recorded.
struct MemoryUse {
    double peakBytes = 0, limitBytes = 0;
    double reservedBytes = 0; ///< maximum reserved memory, if recorded in addition to allocated memory; otherwise 0
    std::string where;        ///< "GPU 0 memory allocated", "memory"
    profiler::TrackId counter;
    profiler::TraceTime peakAt{};
    [[nodiscard]] double share() const { return limitBytes > 0 ? peakBytes / limitBytes : 0; }
    [[nodiscard]] double reservedShare() const { return limitBytes > 0 ? reservedBytes / limitBytes : 0; }
};
/// No value unless the trace records both the used and the available memory. On a CPU, the latter is
/// batch.memory_limit.
std::optional<MemoryUse> memoryUse(const RuleContext& c);
/// The verdict of memory rules if memoryUse() has no value.
Advice memoryNotRecorded(const RuleContext& c);
/// The sample at the peak, as evidence.
Evidence peakEvidence(const RuleContext& c, const MemoryUse& use);
/// The verdict of memory rules if the memory use is unknown or at most 90 %, the level from which NVIDIA's and
/// TraceML's advisors warn; no value if there is something to advise. If only memory cached by the allocator fills the
/// memory, the verdict says so.
std::optional<Advice> withoutFullMemory(const RuleContext& c, const std::optional<MemoryUse>& use);
/// The verdict of training-memory rules for an imported trace that contains operators but no backward pass and no
/// optimizer: inference. No value for training, or if operators were not recorded.
std::optional<Advice> withoutBackward(const RuleContext& c);
/// A finding about memory: its objective is memory, and the peak is its evidence.
Advice firesOnMemory(const RuleContext& c, const MemoryUse& use, profiler::Message reason);

} // namespace advisor
