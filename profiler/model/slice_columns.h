#pragma once

#include "profiler/model/raw_slice.h"

#include <cstdint>
#include <vector>

namespace profiler {

/// Slices as columns, in the order of beginsBefore: position i of each is one slice.
struct SliceColumns {
    std::vector<std::int64_t> begin, duration, link;
    std::vector<std::uint32_t> name, args, ordinal;
    std::vector<std::uint32_t> external, sourceLow; ///< empty where no slice has one
    std::vector<std::uint8_t> sourceHigh;
    std::vector<ActivityKind> kind;
    std::vector<std::uint8_t> depth, flags;

    [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(begin.size()); }
    [[nodiscard]] std::int64_t end(std::uint32_t position) const { return begin[position] + duration[position]; }
};

} // namespace profiler
