#pragma once

#include "profiler/capture/recorder.h"

#include <cstdint>

namespace trainer {

/// LibTorch's operators as slices of kind CpuOp, each on its thread's track, linked forward to backward by autograd's
/// sequence numbers. One object a process. While it is off, LibTorch does not call it at all.
class OpHook {
public:
    /// @param shapes  with the sizes and types of the operators' inputs, which costs a text an operator
    explicit OpHook(profiler::capture::Recorder& recorder, bool shapes = false);
    ~OpHook();
    OpHook(const OpHook&) = delete;
    OpHook& operator=(const OpHook&) = delete;

    /// Adds or removes the hook. Between steps only: an operator that began without it has no end for it.
    void set(bool on);

private:
    bool m_shapes;
    std::uint64_t m_handle = 0; // LibTorch's own; 0: off
};

} // namespace trainer
