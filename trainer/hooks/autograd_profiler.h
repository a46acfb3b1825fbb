#pragma once

#include <cstdint>

namespace trainer {

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
