#pragma once

#include "profiler/model/trace.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace profiler::analysis {

/// What ranges that differ by a number have in common: "iteration" of "iteration 12", "iteration_12", "iteration: 12",
/// "iteration #12", "iteration12" and "iteration 12/100"; a name that ends in no number, or is one, stays as it is.
std::string_view withoutNumber(std::string_view range);

/// The number that withoutNumber() leaves out: 12 of "iteration 12/100". No value where it leaves out none, or one that
/// no 64 bits hold.
std::optional<std::int64_t> numberOf(std::string_view range);

/// "step" is the range of "step" and of all that withoutNumber() calls so, not of "stepper".
bool isOfRange(std::string_view name, std::string_view range);

struct RepeatedRange {
    std::string_view name;
    std::int64_t count = 0;
};
/// Names, without their numbers, of NVTX ranges and annotations of the host that come twice or more: those that may be
/// steps. Most time first; they live as long as the trace. Each finds its ranges by isOfRange().
std::vector<RepeatedRange> countedRanges(const Trace& trace, std::size_t most);
/// The names alone.
std::vector<std::string_view> repeatedRanges(const Trace& trace, std::size_t most);

} // namespace profiler::analysis
