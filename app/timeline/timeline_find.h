#pragma once

#include "profiler/model/name_search.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace app {

/// The matches of a search in a trace. Immutable, created in the background.
struct FindHits {
    std::shared_ptr<const profiler::NameSearch> search; ///< never null
    std::uint64_t count = 0;
    profiler::TimeRange range;        ///< range covered by `marks`
    std::vector<std::uint32_t> marks; ///< number of matches that start in each of equally many spans of `range`, over
                                      ///< all tracks

    [[nodiscard]] bool matches(profiler::StringId name) const { return search->matches(name); }
};

} // namespace app
