#pragma once

#include "profiler/model/name_search.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace app {

/// What a search found in a trace. Immutable, made in the background.
struct FindHits {
    std::shared_ptr<const profiler::NameSearch> search; ///< never null
    std::uint64_t count = 0;
    profiler::TimeRange range;        ///< that `marks` cover
    std::vector<std::uint32_t> marks; ///< hits that begin in each of so many equal spans of `range`, over all tracks

    [[nodiscard]] bool matches(profiler::StringId name) const { return search->matches(name); }
};

} // namespace app
