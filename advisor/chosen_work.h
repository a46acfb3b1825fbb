#pragma once

#include "advisor/rule.h"

#include <unordered_set>

namespace advisor {

using SliceSet = std::unordered_set<profiler::SliceId>;

/// Chosen slices of the host with the calls and waits in them, and what these calls gave to devices: what a what-if
/// takes away or shortens. The replay's graph has to be cut at the chosen slices, see savingByReplay().
class ChosenWork {
public:
    /// @param chosen  operators and phases of host threads, loader workers excepted. O(slices)
    ChosenWork(const profiler::Trace& trace, const SliceSet& chosen);

    /// A piece of the host's time in one of them.
    [[nodiscard]] bool onHost(const profiler::analysis::ReplayWork& work) const;
    /// What a device did for one of them.
    [[nodiscard]] bool onDevice(const profiler::analysis::ReplayWork& work) const;

private:
    SliceSet m_host, m_device;
};

/// Slices of host threads, loader workers excepted, by what they are and where they begin.
/// @param fits  whether a slice of this name is wanted, each name asked about once
/// @param phase  in which the slice has to begin, on whatever thread; empty: anywhere
SliceSet operatorsIn(const profiler::Trace& trace, bool (*fits)(std::string_view name), std::string_view phase);

} // namespace advisor
