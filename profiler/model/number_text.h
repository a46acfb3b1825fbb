#pragma once

#include "profiler/model/clock.h"

#include <concepts>
#include <cstdint>
#include <string>

/// Formats numbers for people. The app, the terminal and the report all use these functions, so a value reads the same
/// everywhere: a figure has three significant digits and a unit, a position in time has every recorded digit. The texts
/// do not depend on the locale.
namespace profiler {

/// Three significant digits and a suitable unit: "850 ns", "41.2 ms", "1.50 s", "12.3 min". Whole nanoseconds below a
/// microsecond; minutes from two minutes on. "–" for a value that is not finite.
std::string durationText(Nanoseconds duration);
/// The same for a duration in µs.
std::string timeText(double us);

/// Decimals of a second needed for nanosecond resolution.
inline constexpr int kPositionDecimals = 9;
/// A position in time, in seconds from the start of the trace, with digits in groups of three: "12.345 678 901 s". All
/// positions use the same unit, so two of them can be compared digit by digit.
/// @param decimals  of a second, 0 to 9; fewer than nine truncate the position, for labels of an axis with coarser
///                  steps
std::string positionText(Nanoseconds sinceStart, int decimals = kPositionDecimals);

/// A fraction as a percentage: "61.2 %", "5.25 %", "100 %"; "< 0.01 %" for smaller positive fractions.
std::string shareText(double share);
/// In powers of 1000: "812 B", "41.2 MB".
std::string bytesText(double bytes);
template <std::integral Bytes>
std::string bytesText(Bytes bytes)
{
    return bytesText(static_cast<double>(bytes));
}

/// Counts from this value on are written as powers of ten instead of digit by digit.
inline constexpr double kPlainCounts = 1e12;
/// Three significant digits with thousands grouped: "41.2", "0.00123", "12,300"; "1.23e+08" from `plainBelow` on and
/// below a millionth.
std::string significantText(double value, double plainBelow = 1e6);
/// A fixed number of decimals with thousands grouped: "12,345.5".
std::string fixedText(double value, int decimals);

/// All digits: "12,345".
template <std::integral Count>
std::string countText(Count count);
/// A count that may be a mean: "3", "2.5", "12,345".
std::string countText(double count);

namespace detail {
std::string groupedText(std::string digits);
}

template <std::integral Count>
std::string countText(Count count)
{
    return detail::groupedText(std::to_string(count));
}

} // namespace profiler
