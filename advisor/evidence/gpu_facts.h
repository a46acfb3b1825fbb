#pragma once

#include "advisor/rule.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Questions about a run on a GPU that several rules ask: its devices, copies, communication and exposed work. A plain
/// program, such as a CUDA program without NVTX ranges recorded with Nsight Systems, shows no sign of training.
namespace advisor {

/// The verdict of every GPU rule for a run without a GPU, or for a trace without GPU data; no value if there is
/// something to analyze.
std::optional<Advice> withoutDeviceWork(const RuleContext& c, profiler::Message onTheCpu);

/// The reason for a run on a GPU whose trace contains no device work.
profiler::Message deviceNotRecorded(const RuleContext& c);

/// The lowest compute capability of the devices, for example 70 for 7.0: as recorded, else the minimum that one of the
/// kernels needs. No value if the trace contains neither: a device's name is not enough ("RTX 6000" exists in three
/// architectures).
std::optional<int> computeCapability(const RuleContext& c);
/// True if the devices are from AMD, according to their names, else to the names of calls and kernels.
bool ranOnAmd(const RuleContext& c);

/// Converts a share of the work to a share of the time: kernels fill only part of the time; on the CPU, operators fill
/// the time not spent waiting for data.
double shareOfTime(const RuleContext& c, double shareOfWork);

/// Copies of one kind in the analysis window; without step marks, only those that begin after the first kernel.
struct CopyUse {
    std::int64_t count = 0, bytes = 0;
    profiler::Nanoseconds time{};           ///< sum over all devices
    profiler::Nanoseconds exposed{};        ///< time of each device's copies while it ran no kernel, summed
    std::size_t devices = 0;                ///< number of devices with such copies
    std::vector<profiler::SliceId> longest; ///< longest first, at most ten
    [[nodiscard]] double gbPerSecond() const
    {
        return time.count() > 0 ? static_cast<double>(bytes) / static_cast<double>(time.count()) : 0;
    }
    /// The mean per device for a sum over devices.
    [[nodiscard]] profiler::Nanoseconds meanPerDevice(profiler::Nanoseconds sum) const
    {
        return devices > 0 ? sum / static_cast<std::int64_t>(devices) : sum;
    }
};
/// @param source memory copied from; no value: any
/// @param atLeast bytes; smaller copies do not count
CopyUse copyUse(const RuleContext& c, profiler::CopyKind kind, std::optional<profiler::MemoryKind> source = {},
                std::int64_t atLeast = 0);

/// Work of one device compared with the same device's kernels: kernels of other devices hide nothing.
struct OnDevice {
    profiler::analysis::Intervals all, exposed; ///< when it ran; when it ran and no kernel hid it
};
/// One entry for each device that runs part of `work`.
/// @param hides the kernels that count, by name; null: all of them
std::vector<OnDevice> againstOwnKernels(const RuleContext& c, std::span<const profiler::Slice> work,
                                        bool (*hides)(std::string_view kernel) = nullptr);
/// Mean over devices of the time in which the work was exposed; 0 without devices.
profiler::Nanoseconds meanExposed(std::span<const OnDevice> devices);

/// Time of `time` inside each step of the analysis window, in µs.
std::vector<double> insideEachStep(const RuleContext& c, const profiler::analysis::Intervals& time);
/// Exposed work inside each step, in µs; mean over the devices.
std::vector<double> exposedInEachStep(const RuleContext& c, std::span<const OnDevice> devices);

/// An entry of the details that an importer reads on demand ("Concrete Inputs", "Input Strides"), as JSON; empty if the
/// trace does not contain it.
std::string detail(const profiler::Trace& trace, profiler::SliceId slice, std::string_view key);
/// Top-level entries of a JSON list, as text: "[1, [2, 3], \"x\"]" gives 1 · [2, 3] · x. Empty for anything else.
std::vector<std::string> listEntries(std::string_view list);

/// NCCL and RCCL kernels in the analysis window, and the other kernels of their devices.
struct CommunicationUse {
    std::vector<profiler::Slice> kernels; ///< longest first
    std::vector<OnDevice> devices;        ///< the devices that communicate, limited to the window
};
/// Share of this work that other kernels hide, [0, 1].
double overlapOf(std::span<const OnDevice> devices);
CommunicationUse communicationUse(const RuleContext& c);

// Evidence for programs that show no sign of training, such as a CUDA program without NVTX ranges recorded with Nsight
// Systems: no steps, operators, phases or ranges, only kernels, copies and API calls.

/// True for the trace of such a program, if a device ran kernels in it.
bool isPlainProgram(const RuleContext& c);

/// Copies between the host and devices during the whole time in which the devices worked.
struct HostCopies {
    std::vector<profiler::Slice> copies; ///< longest first
    std::vector<OnDevice> devices;       ///< the copies of each device and its own kernels
    std::int64_t bytesToDevice = 0, bytesToHost = 0;
    profiler::Nanoseconds time{}; ///< sum over all copies and devices

    [[nodiscard]] double gbPerSecond() const
    {
        return time.count() > 0 ? static_cast<double>(bytesToDevice + bytesToHost) / static_cast<double>(time.count())
                                : 0;
    }
};
/// All copies, or only those with pageable host memory that move at least `atLeast` bytes.
HostCopies hostCopies(const RuleContext& c);
HostCopies pageableHostCopies(const RuleContext& c, std::int64_t atLeast);

} // namespace advisor
