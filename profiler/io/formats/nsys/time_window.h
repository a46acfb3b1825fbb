#pragma once

#include "profiler/io/formats/nsys/export_schema.h"
#include "profiler/model/raw_slice.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace profiler::formats::nsys {

/// The times that rows of a recording may have. One row with a wild time would stretch the trace over years, and with
/// it everything that is a share of its span.
struct TimeWindow {
    std::int64_t first = -RawSlice::kTimeLimit, last = RawSlice::kTimeLimit; ///< ns

    [[nodiscard]] bool holds(std::int64_t time) const { return time >= first && time <= last; }
    /// Around the middle of what evenly spaced rows of these tables have as their `start`; costs a few look-ups.
    static TimeWindow of(const SqliteFile& file, const ExportSchema& schema, std::span<const std::string_view> tables);

    static constexpr std::int64_t kReach = std::int64_t{30} * 24 * 3600 * 1'000'000'000; ///< to either side: 30 days
};

/// Rows of a table by its largest row id, which costs nothing to ask; any id may be there, but sums of these do not
/// overflow. 0 where it cannot be asked.
std::int64_t rowsOf(const SqliteFile& file, std::string_view table);

} // namespace profiler::formats::nsys
