#pragma once

#include <string>
#include <vector>

class QTextCursor;
class QTextTable;

namespace app {

/// Style of tables on a page.
struct TableLook {
    double points = 8;      ///< font size; a table that does not fit uses a smaller one
    double width = 0;       ///< of the table, in the document's units
    double unit = 1;        ///< a point, in the document's units
    double layoutPoint = 1; ///< a point in text format units: the layout scales them to the device
};

/// Inserts a table with columns sized by their texts. Numbers keep their units, words are not broken, and a name that
/// is too long for a line is shortened with the full name below in small letters. Number columns are right-aligned.
/// @param header  repeated on each page; may be empty
/// @param rows    at least one; rows may have different lengths
QTextTable* insertReportTable(QTextCursor& cursor, const TableLook& look, const std::vector<std::string>& header,
                              const std::vector<std::vector<std::string>>& rows);

} // namespace app
