#pragma once

#include "profiler/model/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace trainer::data {

/// A table of numbers, one column of which is to be predicted.
struct CsvTable {
    std::vector<std::string> features; ///< names of the other columns
    std::string target;                ///< name of the column to be predicted
    std::vector<float> values;         ///< rows × features
    std::vector<float> targets;        ///< rows; a class is a whole number
    [[nodiscard]] std::int64_t rows() const { return static_cast<std::int64_t>(targets.size()); }
};

/// What the column to be predicted must hold.
struct CsvTarget {
    std::string column;       ///< its name; empty: the last column
    std::int64_t classes = 0; ///< whole numbers below this; 0: any number
};

/// Reads comma-separated values as RFC 4180 has them: a first line of names, quotes where they are needed, LF or CRLF.
/// Every cell is a finite number. The first wrong cell is an error that names row (the header is row 1) and column; so
/// are rows of another length, and a target column that is not there.
profiler::Result<CsvTable> parseCsv(std::string_view text, const CsvTarget& target, const std::string& where);

} // namespace trainer::data
