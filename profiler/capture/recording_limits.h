#pragma once

#include "profiler/model/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What of a job is recorded: which steps, which ranks, and how much. `stepscope-cli record` checks the texts of its
/// options, and the injection library reads the same texts from the environment.
namespace profiler::capture {

/// Numbers from `first` to `last`, both included.
struct NumberRange {
    std::int64_t first = 0, last = 0;
    [[nodiscard]] bool contains(std::int64_t number) const { return first <= number && number <= last; }
    friend bool operator==(const NumberRange&, const NumberRange&) = default;
};

/// "10-29", or "10" for a single step.
Result<NumberRange> stepRangeOf(std::string_view text);
/// "0,7,64-71": sorted; ranges that touch or overlap become one.
Result<std::vector<NumberRange>> rankListOf(std::string_view text);
/// The list as rankListOf() reads it.
std::string rankListText(const std::vector<NumberRange>& ranks);
/// "500MB", "2GB", "64MiB", "1.5GB" or a number of bytes; decimal units are powers of 1,000. At least 1 MB, because
/// less holds no step.
Result<std::uint64_t> byteCountOf(std::string_view text);

struct RecordingLimits {
    std::optional<NumberRange> steps; ///< no value: all
    std::vector<NumberRange> ranks;   ///< empty: all
    std::uint64_t maxBytes = 0;       ///< of a rank; 0: no limit
};
/// Whether the rank is one of the list, or the list is empty.
bool containsRank(const std::vector<NumberRange>& ranks, std::int64_t rank);

} // namespace profiler::capture
