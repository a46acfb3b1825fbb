#pragma once

#include "profiler/model/trace.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace app_test {

/// What is known about a story trace, to check what the window says.
struct StoryAnswers {
    std::int64_t steps = 0;
    std::int64_t stepWithKernel = 7; ///< it has the longest kernel, after a gap
    std::int64_t slowStep = 9;       ///< waits for data
    std::string kernel;              ///< full name of the longest kernel
    std::int64_t kernelNs = 0, gapNs = 0;
    std::uint64_t correlation = 0;     ///< of the kernel and its launch
    std::string line = "model.py(88)"; ///< the Python line that launched it
    std::int64_t copyNs = 0;           ///< total of all aten::copy_
    std::int64_t pageable = 0;         ///< pageable copies above 1 MB
};

/// A training like the ones that PyTorch's profiler records with stacks: steps, phases, Python functions, operators and
/// launches on the main thread, kernels and copies on two streams.
/// @param slices  about so many
/// @param slower  factor of the durations of all kernels; the launches stay
std::shared_ptr<const profiler::Trace> storyTrace(std::size_t slices, double slower, StoryAnswers* answers);

} // namespace app_test
