#pragma once

#include "profiler/capture/nvtx_ranges.h"
#include "profiler/capture/recorder.h"

#include <cstdint>
#include <memory>

/// What a training can do with each of LibTorch's operators: record it, emit it as an NVTX range, or let LibTorch's own
/// profiler count it.
namespace trainer {

/// Records LibTorch's operators as slices of kind CpuOp, each on its thread's track; autograd's sequence numbers link
/// the forward to the backward pass. One object per process. While it is off, LibTorch does not call it.
class OpHook {
public:
    /// @param shapes  with the sizes and types of the operators' inputs, which costs strings per operator
    explicit OpHook(profiler::capture::Recorder& recorder, bool shapes = false);
    ~OpHook();
    OpHook(const OpHook&) = delete;
    OpHook& operator=(const OpHook&) = delete;

    /// Adds or removes the callback. Call it only between steps: an operator that began without the callback has no
    /// end.
    void set(bool on);

private:
    bool m_shapes;
    std::uint64_t m_handle = 0; // LibTorch's handle; 0: off
};

/// Emits every LibTorch operator as an NVTX range during its lifetime, like torch.autograd.profiler.emit_nvtx. One
/// object per process; create and destroy it between steps.
class NvtxOps {
public:
    NvtxOps();
    ~NvtxOps();
    NvtxOps(const NvtxOps&) = delete;
    NvtxOps& operator=(const NvtxOps&) = delete;
    /// Number of ranges emitted so far.
    [[nodiscard]] static std::int64_t count();

private:
    profiler::capture::NvtxRanges m_ranges;
    std::uint64_t m_handle = 0;
};

/// Runs LibTorch's own profiler (Kineto) in a scope, as if it had been left on by mistake: its events are counted and
/// discarded. CPU operators only: Stepscope records the GPU's work, and both profilers cannot record it at once.
class AutogradProfiler {
public:
    AutogradProfiler();
    ~AutogradProfiler();
    AutogradProfiler(const AutogradProfiler&) = delete;
    AutogradProfiler& operator=(const AutogradProfiler&) = delete;
    /// Number of events in all scopes so far.
    [[nodiscard]] static std::int64_t events();
};

} // namespace trainer
