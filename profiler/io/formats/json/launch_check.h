#pragma once

#include "profiler/io/formats/json/event_sink.h"

#include <cstdint>
#include <vector>

namespace profiler::formats::json {

/// Finds device work whose launch is not in the file.
class LaunchCheck {
public:
    void add(const Harvest& part);
    /// Adds to `losses`.
    void report(Losses& losses) const;

private:
    struct Work {
        std::vector<std::int64_t> ids;
        std::vector<std::uint64_t> offsets;
    };
    std::vector<std::int64_t> m_calls; ///< correlation ids
    Work m_work;
};

} // namespace profiler::formats::json
