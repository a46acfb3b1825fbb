#pragma once

#include <cstdint>

namespace trainer {

/// LibTorch's own profiler (Kineto) over a scope, as somebody leaves it switched on: its events are counted and thrown
/// away. Operators on the processor only: the GPU's work is recorded by ours, and both at once do not work.
class AutogradProfiler {
public:
    AutogradProfiler();
    ~AutogradProfiler();
    AutogradProfiler(const AutogradProfiler&) = delete;
    AutogradProfiler& operator=(const AutogradProfiler&) = delete;
    /// Events of all scopes so far.
    [[nodiscard]] static std::int64_t events();
};

} // namespace trainer
