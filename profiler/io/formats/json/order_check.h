#pragma once

#include "profiler/io/formats/json/event_sink.h"

#include <cstdint>
#include <limits>
#include <vector>

namespace profiler::formats::json {

/// Looks at slices in the order of the file: which begin before the one that their row has last, which end after the
/// slice that they begin in, and which device work has no launch.
class OrderCheck {
public:
    void add(const SharedBuild& shared, const Harvest& part);
    /// Adds to `losses`; the metadata "source.out_of_order" says how many slices begin before the one ahead of them:
    /// Kineto lists a thread's runtime calls after its operators, so that this is no fault.
    void report(SharedBuild& shared, Losses& losses) const;

private:
    struct Row {
        std::int64_t last = std::numeric_limits<std::int64_t>::min();
        std::vector<std::int64_t> ends; ///< of the slices that are open at `last`, outermost first
    };
    struct Correlations {
        std::vector<std::uint32_t> ids;
        std::vector<std::uint64_t> offsets; ///< device work only
    };

    void addRow(Row& row, const RawSlice& slice, bool nests);
    void addLink(const RawSlice& slice);

    std::vector<Row> m_rows; ///< by lane
    std::vector<std::uint32_t> m_calls;
    Correlations m_work;
    Losses m_losses;
    std::uint64_t m_outOfOrder = 0;
};

} // namespace profiler::formats::json
