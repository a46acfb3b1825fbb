#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace advisor::svg {

/// Text with the characters escaped that mean something in HTML and SVG; others that may not stand there become U+FFFD.
std::string escaped(std::string_view text);

/// A drawing that needs nothing besides, and what its colours mean.
struct Chart {
    std::string svg; ///< an element; empty: nothing to draw
    struct Entry {
        std::string colour, name; ///< "#0072b2"
    };
    std::vector<Entry> legend;
};

struct Series {
    std::string name;
    std::vector<double> values; ///< what is not finite is left out
};
/// Lines over the values' numbers, from zero or the least value to the largest. More values than pixels are drawn as
/// the span of each pixel's. Empty without values.
/// @param unit  of the axis: "ms"
Chart lines(const std::vector<Series>& series, std::string_view unit, bool fromZero);
/// A part of a whole.
struct Share {
    std::string name;
    double share = 0;
    std::string_view colour; ///< "#0072b2"
};
/// Shares of a whole, side by side. Empty where all are zero.
Chart shares(const std::vector<Share>& parts);

} // namespace advisor::svg
