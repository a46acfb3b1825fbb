#pragma once

#include "advisor/advice.h"
#include "advisor/rule.h"

#include <optional>
#include <string>

/// How full the memory was, and what changes could save of it.
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

/// Upper bound of the bytes that the highest peak of a step loses when its batch is split into this many passes: that
/// share of the memory that the step adds to the memory allocated before it. Gradients keep their size, so the peak may
/// lose less. No value if allocations were not recorded (level full).
std::optional<Saving> savedByParts(const RuleContext& c, double parts);

/// Upper bound of the bytes that a step's peak loses when the results of cheap operators between matmuls and
/// convolutions are recomputed in the backward pass: the step's own allocations are replayed without that memory from
/// the end of those operators until the backward pass reaches them, and with the memory that recomputing them needs.
/// The trace does not record which operators form a block with which matmul: operators outside of blocks keep their
/// memory, so the peak may lose less.
/// @return no value if allocations, the operators of a whole step or the links between forward and backward operators
/// were not recorded
std::optional<Saving> savedByRecomputing(const RuleContext& c);

} // namespace advisor
