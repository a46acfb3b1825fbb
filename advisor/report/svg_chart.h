#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace advisor::svg {

/// Text with the characters escaped that mean something in HTML and SVG; others that may not stand there become U+FFFD.
std::string escaped(std::string_view text);

struct Series {
    std::string name;
    std::vector<double> values; ///< what is not finite is left out
};
/// Lines over the values' numbers, from zero or the least value to the largest. More values than pixels are drawn as
/// the span of each pixel's. Empty without values.
/// @param unit  of the axis: "ms"
std::string lines(const std::vector<Series>& series, std::string_view unit, bool fromZero);
/// Shares of a whole, side by side, with a legend. Empty where all are zero.
std::string shares(const std::vector<std::pair<std::string, double>>& parts);

} // namespace advisor::svg
