#pragma once

#include <optional>
#include <string>
#include <vector>

/// A library of the name that the driver's has, with GPUs that a test makes up. It gives their number, UUIDs, links and
/// throttle reasons; everything else is not supported.
namespace capture_test {

struct FakeGpu {
    std::string uuid;
    std::optional<unsigned> maxGeneration = {}, width = {};          ///< of the PCIe link; empty: not supported
    std::optional<unsigned long long> eventReasons = {};    ///< as drivers since 535 name them; empty: not supported
    std::optional<unsigned long long> throttleReasons = {}; ///< as older drivers name them
};
/// What the library has from now on.
void setFakeGpus(std::vector<FakeGpu> gpus);

} // namespace capture_test
