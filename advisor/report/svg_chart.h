#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace advisor::svg {

/// Escapes the special characters of HTML and SVG in a text; characters that are not allowed there become U+FFFD.
std::string escaped(std::string_view text);

/// A self-contained drawing and the meaning of its colours.
struct Chart {
    std::string svg; ///< an element; empty: nothing to draw
    struct Entry {
        std::string colour, name; ///< "#0072b2"
    };
    std::vector<Entry> legend;
};

struct Series {
    std::string name;
    std::vector<double> values; ///< values that are not finite are skipped
};
/// Lines over the index of the values, from zero or the minimum to the maximum. If there are more values than pixels,
/// each pixel shows their range. Empty without values.
/// @param unit of the axis: "ms"
Chart lines(const std::vector<Series>& series, std::string_view unit, bool fromZero);
/// A part of a whole.
struct Share {
    std::string name;
    double share = 0;
    std::string_view colour; ///< "#0072b2"
};
/// Shares of a whole, as one stacked bar. Empty if all are zero.
Chart shares(const std::vector<Share>& parts);

} // namespace advisor::svg
