#pragma once

#include "advisor/rule.h"

#include <unordered_set>

namespace advisor {

using SliceSet = std::unordered_set<profiler::SliceId>;

/// Chosen host slices with the calls and waits in them, and the device work that these calls launched. A what-if
/// removes or shortens this work. The replay graph must be cut at the chosen slices, see savingByReplay().
class ChosenWork {
public:
    /// @param chosen operators and phases of host threads other than loader workers. O(slices)
    ChosenWork(const profiler::Trace& trace, const SliceSet& chosen);

    /// True for a piece of host time in one of the slices.
    [[nodiscard]] bool onHost(const profiler::analysis::ReplayWork& work) const;
    /// True for device work that one of the slices launched.
    [[nodiscard]] bool onDevice(const profiler::analysis::ReplayWork& work) const;

private:
    SliceSet m_host, m_device;
};

/// Slices of host threads other than loader workers, chosen by name and by where they begin.
/// @param fits whether slices of this name are chosen; called once per name
/// @param phase the phase in which a slice has to begin, on any thread; empty: anywhere
SliceSet operatorsIn(const profiler::Trace& trace, bool (*fits)(std::string_view name), std::string_view phase);

} // namespace advisor
