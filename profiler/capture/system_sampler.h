#pragma once

#include "profiler/capture/recorder.h"

#include <cstdint>
#include <memory>

namespace profiler::capture {

struct SystemSamplerOptions {
    Nanoseconds every = std::chrono::milliseconds(100);
    std::int64_t process = 0;               ///< whose memory, faults, switches and disk reads are sampled; 0: this one
    bool gpu = true;                        ///< ask NVML, where there is one
    TimeRange within{{}, TraceTime::max()}; ///< no samples outside of it
};

/// Samples the machine and a process on a thread of its own, as counters: load of each core (share), resident memory
/// (bytes), page faults, context switches (a second), disk reads (bytes a second); of each GPU that the trace knows or
/// that there is: utilisation, memory, clocks, power, temperature, whether its clocks are held
/// back, and why (throttle_reasons.h). Each GPU's PCIe link lies in the trace's metadata (pcie_link.h). What sampling itself costs is measured and lies in
/// the trace's metadata ("sampler.cpu_share": of one core; "sampler.samples").
class SystemSampler {
public:
    /// @param recorder  outlives it
    static std::unique_ptr<SystemSampler> start(Recorder& recorder, const SystemSamplerOptions& options);
    /// Ends the thread after a last sample. Call before the recorder finishes.
    ~SystemSampler();
    SystemSampler(const SystemSampler&) = delete;
    SystemSampler& operator=(const SystemSampler&) = delete;

private:
    SystemSampler();
    struct State;
    std::unique_ptr<State> m;
};

} // namespace profiler::capture
