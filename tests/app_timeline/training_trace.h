#pragma once

#include "profiler/model/trace.h"
#include "profiler/model/trace_builder.h"

#include <cstdint>
#include <memory>

namespace test {

/// The shape of a synthetic training: like a real trace, with known times.
struct TrainingShape {
    int steps = 60;
    int opsPerStep = 40; ///< leaf operators, two levels deep in forward and backward
    int loaderWorkers = 2;
    bool gpu = true;
    bool live = false;
    std::int64_t begin = 5'000'000'000; ///< trace time of the first slice, ns
    std::int64_t stepNs = 62'000'000;
};

/// Steps with phases and nested operators on the main thread, stages on loader workers, kernels and copies on two
/// streams, counters of memory and loss. The same shape gives the same trace.
std::shared_ptr<const profiler::Trace> trainingTrace(const TrainingShape& shape);
/// The same with about the given number of slices.
std::shared_ptr<const profiler::Trace> trainingTraceOf(std::size_t slices);

} // namespace test
