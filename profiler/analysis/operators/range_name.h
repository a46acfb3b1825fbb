#pragma once

#include "profiler/model/trace.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace profiler::analysis {

/// The common part of range names that differ by a number: "iteration" for "iteration 12", "iteration_12", "iteration:
/// 12", "iteration #12", "iteration12" and "iteration 12/100". A name without a number at the end, or that is only a
/// number, is returned unchanged.
std::string_view withoutNumber(std::string_view range);

/// The number that withoutNumber() removes: 12 for "iteration 12/100". Empty if it removes none, or if the number does
/// not fit in 64 bits.
std::optional<std::int64_t> numberOf(std::string_view range);

/// True if a name is that of a range or becomes it by withoutNumber(): "step" matches "step" and "step 3", but not
/// "stepper".
bool isOfRange(std::string_view name, std::string_view range);

struct RepeatedRange {
    std::string_view name;
    std::int64_t count = 0;
};
/// Names, without their numbers, of NVTX ranges and host annotations that occur at least twice: candidates for steps.
/// Longest total time first. They are valid as long as the trace. isOfRange() finds the ranges of each name.
std::vector<RepeatedRange> countedRanges(const Trace& trace, std::size_t most);
/// Only the names.
std::vector<std::string_view> repeatedRanges(const Trace& trace, std::size_t most);

} // namespace profiler::analysis
