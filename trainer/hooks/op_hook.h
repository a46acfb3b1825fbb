#pragma once

#include "profiler/capture/recorder.h"

#include <cstdint>

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

} // namespace trainer
