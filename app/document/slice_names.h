#pragma once

#include "profiler/model/trace.h"

#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <vector>

namespace app {

/// A name in the string pool of a trace that slices have.
struct SliceName {
    profiler::StringId name;
    std::uint64_t slices = 0;
};

/// The most frequent names of slices, at most `most`, most frequent first. Reads one column of every slice: call it on
/// a worker thread. Empty when it was stopped.
[[nodiscard]] std::vector<SliceName> sliceNames(const profiler::Trace& trace, std::size_t most,
                                                const std::stop_token& stop);

} // namespace app
