#pragma once

#include <vector>

namespace app {

/// Width requirements of a column, all in the same unit.
struct ColumnNeed {
    double word = 0;    ///< its widest word
    double line = 0;    ///< its widest text on one line; at least `word`
    bool grows = false; ///< takes the remaining width
};

/// True if no word has to be broken.
[[nodiscard]] bool wordsFit(const std::vector<ColumnNeed>& needs, double room);

/// Column widths that fill the available width. Each column is at least as wide as its widest word; the remaining width
/// is distributed by text width, as browsers lay out tables. If the words do not fit, the widest columns are reduced to
/// the same width.
[[nodiscard]] std::vector<double> columnWidths(const std::vector<ColumnNeed>& needs, double room);

} // namespace app
