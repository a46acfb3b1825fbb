#pragma once

#include "trainer/workloads/workload.h"

#include <array>
#include <cstdint>

namespace trainer {

/// Width and depth of a model.
struct Scale {
    std::int64_t width, depth;
};

/// The requested scale: the named size, with the options' own width and depth if given.
/// @param sizes  tiny, small, base, large
inline Scale scaleOf(const ModelOptions& options, const std::array<Scale, 4>& sizes)
{
    Scale scale = sizes[static_cast<std::size_t>(options.size)];
    if (options.width > 0)
        scale.width = options.width;
    if (options.depth > 0)
        scale.depth = options.depth;
    return scale;
}

} // namespace trainer
