#pragma once

#include "profiler/formats/nsys/export_schema.h"
#include "profiler/model/raw_slice.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace profiler::formats::nsys {

/// The valid time range of a recording. A single row with a corrupt time would stretch the trace over years and distort
/// every figure that is relative to its length.
struct TimeWindow {
    std::int64_t first = -RawSlice::kTimeLimit, last = RawSlice::kTimeLimit; ///< ns

    [[nodiscard]] bool holds(std::int64_t time) const { return time >= first && time <= last; }
    /// A window around the median `start` of evenly spaced rows of these tables. Costs a few look-ups.
    static TimeWindow of(const SqliteFile& file, const ExportSchema& schema, std::span<const std::string_view> tables);

    static constexpr std::int64_t kReach = std::int64_t{30} * 24 * 3600 * 1'000'000'000; ///< 30 days in each direction
};

/// Estimates the number of rows of a table by its largest row id, which is cheap to query. The value is limited so that
/// sums do not overflow. 0 if the query fails.
std::int64_t rowsOf(const SqliteFile& file, std::string_view table);

} // namespace profiler::formats::nsys
