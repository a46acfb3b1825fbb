#pragma once

#include <vector>

namespace app {

/// What a column asks for, all in one unit.
struct ColumnNeed {
    double word = 0;    ///< its widest word
    double line = 0;    ///< its widest text on one line; at least `word`
    bool grows = false; ///< takes what is left over
};

/// True when no word of them has to be broken.
[[nodiscard]] bool wordsFit(const std::vector<ColumnNeed>& needs, double room);

/// Widths that fill the room: each column as wide as its words, and of what is left each as much as its texts ask for
/// (the way browsers lay tables out); where even the words have no room, the widest give way to the same width.
[[nodiscard]] std::vector<double> columnWidths(const std::vector<ColumnNeed>& needs, double room);

} // namespace app
