#pragma once

#include "profiler/analysis/device/idle_stretches.h"
#include "profiler/model/trace.h"

#include <QString>
#include <map>
#include <span>
#include <string_view>
#include <vector>

namespace app {

/// Idle intervals of the devices and their causes, from an analysis. Immutable.
struct DeviceGaps {
    using Gap = profiler::analysis::IdleStretch;
    std::map<profiler::DeviceId, std::vector<Gap>> byDevice; ///< disjoint, sorted by start

    /// The intervals of a device that overlap a time range.
    [[nodiscard]] std::span<const Gap> in(profiler::DeviceId device, profiler::TimeRange window) const;
};

/// Short text of the cause: "waits for data".
QString gapWord(std::string_view cause);

} // namespace app
