#pragma once

#include "profiler/model/pcie_link.h"
#include "profiler/model/result.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace profiler::capture {

/// What the driver says of a GPU at a moment; what a GPU does not tell is empty.
struct GpuState {
    std::optional<double> utilization;     ///< share of the last sample period with a kernel running, [0, 1]
    std::optional<double> memoryUsedBytes; ///< by all processes
    std::optional<double> smClockMhz, memoryClockMhz;
    std::optional<double> powerWatts, temperatureCelsius;
    std::optional<std::uint64_t> throttling; ///< why the clocks are held back: bits of throttle_reasons.h; 0: none
};

/// The NVIDIA management library, opened at run time: a machine without it has no GPU that could be asked.
class Nvml {
public:
    /// Fails where there is no driver, or none of its GPUs may be asked.
    static Result<Nvml> open();
    Nvml(Nvml&& other) noexcept;
    Nvml& operator=(Nvml&&) = delete;
    ~Nvml();

    /// UUIDs ("GPU-…"): the one name of a GPU that CUDA and NVML share, whose numbers differ.
    [[nodiscard]] const std::vector<std::string>& uuids() const { return m_uuids; }
    [[nodiscard]] GpuState state(std::size_t index) const;
    /// The generation that GPU and machine reach under load, as an idle link steps down, and the lanes that are wired
    /// now; empty where the driver does not tell.
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
