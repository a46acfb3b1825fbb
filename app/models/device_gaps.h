#pragma once

#include "profiler/analysis/idle_stretches.h"
#include "profiler/model/trace.h"

#include <QString>
#include <map>
#include <span>
#include <string_view>
#include <vector>

namespace app {

/// When devices did nothing, and why, as an analysis found it. Immutable.
struct DeviceGaps {
    using Gap = profiler::analysis::IdleStretch;
    std::map<profiler::DeviceId, std::vector<Gap>> byDevice; ///< disjoint, by begin

    /// Those of a device that overlap a window.
    [[nodiscard]] std::span<const Gap> in(profiler::DeviceId device, profiler::TimeRange window) const;
};

/// The cause in words: "waits for data".
QString gapWord(std::string_view cause);

} // namespace app
