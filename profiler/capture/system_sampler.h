#pragma once

#include "profiler/capture/recorder.h"

#include <cstdint>
#include <memory>

namespace profiler::capture {

struct SystemSamplerOptions {
    Nanoseconds every = std::chrono::milliseconds(100);
    std::int64_t process = 0;               ///< process whose memory, faults, switches and disk reads are sampled; 0
                                            ///< for this one
    bool gpu = true;                        ///< query NVML, if available
    TimeRange within{{}, TraceTime::max()}; ///< sample only within this time range
};

/// Samples the machine and a process on a separate thread, as counters: load of each core (share), resident memory
/// (bytes), page faults and context switches (per second), disk reads (bytes per second). For each GPU of the trace, or
/// else of the machine: utilization, memory, clocks, power, temperature, whether its clocks are throttled, and why
/// (throttle_reasons.h). Each GPU's PCIe link is stored in the trace's metadata (pcie_link.h), and so is the measured
/// cost of sampling itself ("sampler.cpu_share": share of one core; "sampler.samples").
class SystemSampler {
public:
    /// @param recorder  must outlive the sampler
    static std::unique_ptr<SystemSampler> start(Recorder& recorder, const SystemSamplerOptions& options);
    /// Takes a last sample and ends the thread. Call it before the recorder finishes.
    ~SystemSampler();
    SystemSampler(const SystemSampler&) = delete;
    SystemSampler& operator=(const SystemSampler&) = delete;

private:
    SystemSampler();
    struct State;
    std::unique_ptr<State> m;
};

} // namespace profiler::capture
