#pragma once

#include "profiler/model/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace trainer::data {

/// A table of numbers with one target column.
struct CsvTable {
    std::vector<std::string> features; ///< names of the other columns
    std::string target;                ///< name of the target column
    std::vector<float> values;         ///< rows × features
    std::vector<float> targets;        ///< one per row; a class is an integer
    [[nodiscard]] std::int64_t rows() const { return static_cast<std::int64_t>(targets.size()); }
};

/// Requirements for the target column.
struct CsvTarget {
    std::string column;       ///< its name; empty: the last column
    std::int64_t classes = 0; ///< integers below this; 0: any number
};

/// Reads comma-separated values as in RFC 4180: a header row with names, quotes if needed, LF or CRLF. Every cell is a
/// finite number. The first faulty cell is an error with its row (the header is row 1) and column; rows of another
/// length and a missing target column are errors too.
profiler::Result<CsvTable> parseCsv(std::string_view text, const CsvTarget& target, const std::string& where);

} // namespace trainer::data
