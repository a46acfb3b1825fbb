#pragma once

#include "profiler/capture/recorder.h"

#include <memory>

namespace trainer {

/// Each allocation of LibTorch's allocators, on the CPU and on GPUs, as samples of counters ("CPU memory allocated",
/// "GPU 0 memory allocated", "GPU 0 memory reserved", bytes), while it lives. At its end, what was alive at the peak of
/// each device lies in the trace's metadata, by the operator or phase that took it ("memory.peak.cpu",
/// "memory.peak.cpu.alive": lines of "bytes name"); where memory ran out, what was alive then ("memory.out.cpu").
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
