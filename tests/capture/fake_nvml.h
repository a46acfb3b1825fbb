#pragma once

#include <optional>
#include <string>
#include <vector>

/// A library with the file name of the driver's NVML and with GPUs that a test defines. It returns their number, UUIDs,
/// links and throttle reasons; everything else is not supported.
namespace capture_test {

struct FakeGpu {
    std::string uuid;
    std::optional<unsigned> maxGeneration = {}, width = {}; ///< of the PCIe link; empty if not supported
    std::optional<unsigned long long> eventReasons = {};    ///< under the name used since driver 535; empty if not
                                                            ///< supported
    std::optional<unsigned long long> throttleReasons = {}; ///< under the name used by older drivers
};
/// Replaces the GPUs of the library.
void setFakeGpus(std::vector<FakeGpu> gpus);

} // namespace capture_test
