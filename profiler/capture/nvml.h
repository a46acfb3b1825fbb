#pragma once

#include "profiler/model/nvml_values.h"
#include "profiler/model/result.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace profiler::capture {

/// State of a GPU as reported by the driver; values that the GPU does not report are empty.
struct GpuState {
    std::optional<double> utilization;     ///< fraction of the last sample period in which a kernel was running, [0, 1]
    std::optional<double> memoryUsedBytes; ///< by all processes
    std::optional<double> smClockMhz, memoryClockMhz;
    std::optional<double> powerWatts, temperatureCelsius;
    std::optional<std::uint64_t> throttling; ///< why the clocks are reduced: bits of throttle:: in nvml_values.h; 0 for none
};

/// The NVIDIA management library, opened at run time, because machines without a GPU do not have it.
class Nvml {
public:
    /// Fails if there is no driver, or if none of its GPUs may be queried.
    static Result<Nvml> open();
    Nvml(Nvml&& other) noexcept;
    Nvml& operator=(Nvml&&) = delete;
    ~Nvml();

    /// UUIDs ("GPU-…"): the only id of a GPU that CUDA and NVML share; their device numbers differ.
    [[nodiscard]] const std::vector<std::string>& uuids() const { return m_uuids; }
    [[nodiscard]] GpuState state(std::size_t index) const;
    /// The generation that GPU and machine support under load (an idle link runs at a lower one), and the current
    /// number of lanes; empty if the driver does not report them.
    [[nodiscard]] std::optional<PcieLink> link(std::size_t index) const;
    [[nodiscard]] const std::string& driverVersion() const { return m_driver; }

private:
    Nvml() = default;
    struct Functions;
    std::unique_ptr<Functions> m;
    std::vector<void*> m_devices;
    std::vector<std::string> m_uuids;
    std::string m_driver;
};

} // namespace profiler::capture
