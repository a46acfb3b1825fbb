#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <vector>

/// Statistics of plain numbers.
namespace profiler::analysis {

/// The percentile of the values, linearly interpolated between the closest ranks; 0 without values.
/// @param share  [0, 1]; 0.5 is the median
double percentile(std::vector<double> values, double share);
double mean(const std::vector<double>& values);

/// Adds a nonnegative number. If the sum exceeds 64 bits, as a damaged file may cause, it stays at the maximum.
inline void addSaturating(std::int64_t& sum, std::int64_t more)
{
    if (__builtin_add_overflow(sum, more, &sum))
        sum = std::numeric_limits<std::int64_t>::max();
}
inline void addSaturating(std::chrono::nanoseconds& sum, std::chrono::nanoseconds more)
{
    std::int64_t count = sum.count();
    addSaturating(count, more.count());
    sum = std::chrono::nanoseconds{count};
}

} // namespace profiler::analysis
