#pragma once

#include "advisor/rule.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// What several rules ask of a run on a GPU.
namespace advisor {

/// What every rule that speaks of a GPU says of a run without one, or of a trace that holds nothing of it; no value
/// when there is something to judge.
std::optional<Advice> withoutDeviceWork(const RuleContext& c, profiler::Message onTheCpu);

/// What a rule says of a run on a GPU whose trace holds nothing that ran there.
profiler::Message deviceNotRecorded(const RuleContext& c);

/// The least compute capability of the devices, as 70 for 7.0: as recorded; where it is not, what a kernel that ran
/// needs at least. No value where neither is in the trace: a device's name proves nothing ("RTX 6000" is of three
/// architectures).
std::optional<int> computeCapability(const RuleContext& c);
/// The devices are AMD's, by their names, else by the names of calls and kernels.
bool ranOnAmd(const RuleContext& c);

/// Share of the time that a share of the work is: kernels fill only a part of it, on the CPU operators what is not
/// spent waiting for data.
double shareOfTime(const RuleContext& c, double shareOfWork);

/// Copies of one kind in the judged window; without step marks those that begin after its first kernel does.
struct CopyUse {
    std::int64_t count = 0, bytes = 0;
    profiler::Nanoseconds time{};           ///< summed, over devices too
    profiler::Nanoseconds exposed{};        ///< of each device's copies, while it ran no kernel; summed
    std::size_t devices = 0;                ///< that the copies are on, side by side
    std::vector<profiler::SliceId> longest; ///< longest first, at most ten
    [[nodiscard]] double gbPerSecond() const
    {
        return time.count() > 0 ? static_cast<double>(bytes) / static_cast<double>(time.count()) : 0;
    }
    /// What of a sum over devices is one device's on the mean.
    [[nodiscard]] profiler::Nanoseconds ofADevice(profiler::Nanoseconds sum) const
    {
        return devices > 0 ? sum / static_cast<std::int64_t>(devices) : sum;
    }
};
/// @param source  memory copied from; no value: any
/// @param atLeast  bytes: smaller copies do not count
CopyUse copyUse(const RuleContext& c, profiler::CopyKind kind, std::optional<profiler::MemoryKind> source = {},
                std::int64_t atLeast = 0);

/// Work of one device against that device's own kernels: what another device computes meanwhile hides nothing.
struct OnDevice {
    profiler::analysis::Intervals all, exposed; ///< when it ran; of that, when no kernel hid it
};
/// For each device that some of `work` is on.
/// @param hides  the kernels that count, by name; null: all of them
std::vector<OnDevice> againstOwnKernels(const RuleContext& c, std::span<const profiler::Slice> work,
                                        bool (*hides)(std::string_view kernel) = nullptr);
/// The mean over devices of the time in which each one's work was exposed; 0 without any.
profiler::Nanoseconds meanExposed(std::span<const OnDevice> devices);

/// For each step of the judged window, µs of `time` inside it.
std::vector<double> insideEachStep(const RuleContext& c, const profiler::analysis::Intervals& time);
/// For each step, µs of exposed work inside it, a mean over the devices.
std::vector<double> exposedInEachStep(const RuleContext& c, std::span<const OnDevice> devices);

/// An entry of the details that an importer reads on demand ("Concrete Inputs", "Input Strides"), as JSON; empty where
/// the trace has no such thing.
std::string detail(const profiler::Trace& trace, profiler::SliceId slice, std::string_view key);
/// Top-level entries of a JSON list, as text: "[1, [2, 3], \"x\"]" gives 1 · [2, 3] · x. Empty for anything else.
std::vector<std::string> listEntries(std::string_view list);

} // namespace advisor
