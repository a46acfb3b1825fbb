#pragma once

#include "profiler/capture/recorder.h"

#include <memory>

namespace trainer {

/// Each allocation of LibTorch's allocators, on the CPU and on GPUs, as samples of counters ("CPU memory allocated",
/// "GPU 0 memory allocated", "GPU 0 memory reserved", bytes), while it lives. At its end, the peak of each device
/// lies in the trace's metadata ("memory.peak.cpu", bytes) with what was alive then, most bytes first, at most forty
/// lines ("memory.peak.cpu.alive": bytes, blocks, step, phase, outermost operator, by tabs; "-": outside of all, or
/// not recorded; the last line may be the sum of the rest, as "rest"); where memory ran out, the same of then
/// ("memory.out.cpu", and "memory.out.cpu.asked": bytes that were asked for).
/// For the thread that makes it and the autograd threads that work for it; destroyed by that thread. It takes the place
/// that the PyTorch profiler would: not both at once.
class MemoryHook {
public:
    /// @param recorder  outlives it
    explicit MemoryHook(profiler::capture::Recorder& recorder);
    ~MemoryHook();
    MemoryHook(const MemoryHook&) = delete;
    MemoryHook& operator=(const MemoryHook&) = delete;

private:
    struct State;
    std::unique_ptr<State> m;
};

} // namespace trainer
