#pragma once

#include "profiler/capture/recorder.h"

#include <memory>

namespace trainer {

/// Records each allocation of LibTorch's allocators, on the CPU and on GPUs, as counter samples ("CPU memory
/// allocated", "GPU 0 memory allocated", "GPU 0 memory reserved", bytes) during its lifetime. At the end, it writes
/// each device's peak to the trace's metadata ("memory.peak.cpu", bytes) with the blocks that were alive at that time,
/// largest first, at most forty lines ("memory.peak.cpu.alive": bytes, blocks, step, phase, outermost operator,
/// separated by tabs; "-": outside of all, or not recorded; the last line may be the sum of the others, as "rest").
/// After an out-of-memory error, it writes the same for that moment ("memory.out.cpu", and the requested bytes in
/// "memory.out.cpu.asked").
/// Covers the thread that creates it and the autograd threads that work for it; destroy it on that thread. It uses the
/// same listener as the PyTorch profiler: only one of them can be active.
class MemoryHook {
public:
    /// @param recorder  must outlive the hook
    explicit MemoryHook(profiler::capture::Recorder& recorder);
    ~MemoryHook();
    MemoryHook(const MemoryHook&) = delete;
    MemoryHook& operator=(const MemoryHook&) = delete;

private:
    struct State;
    std::unique_ptr<State> m;
};

} // namespace trainer
