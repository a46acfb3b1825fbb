#pragma once

#include <string>
#include <vector>

class QTextCursor;
class QTextTable;

namespace app {

/// How tables look on a page.
struct TableLook {
    double points = 8;      ///< size of the text; a table that needs more room than there is has a smaller one
    double width = 0;       ///< of the table, in the document's units
    double unit = 1;        ///< a point, in the document's units
    double layoutPoint = 1; ///< a point as text formats take it: the layout scales them to the device
};

/// Inserts a table whose columns are as wide as their texts ask for: numbers keep their units, words stay whole, and a
/// name that is too long for a line stands short with the whole of it below in small letters. Columns of numbers end at
/// the right.
/// @param header  repeated on each page; may be empty
/// @param rows    at least one; may be ragged
QTextTable* insertReportTable(QTextCursor& cursor, const TableLook& look, const std::vector<std::string>& header,
                              const std::vector<std::vector<std::string>>& rows);

} // namespace app
