#pragma once

#include <optional>
#include <string>
#include <vector>

/// A library of the name that the driver's has, with GPUs that a test makes up. It tells their number, their UUIDs and
/// their links, and of all else that it is not supported.
namespace capture_test {

struct FakeGpu {
    std::string uuid;
    std::optional<unsigned> maxGeneration, width; ///< of the PCIe link; empty: not supported
};
/// What the library has from now on.
void setFakeGpus(std::vector<FakeGpu> gpus);

} // namespace capture_test
