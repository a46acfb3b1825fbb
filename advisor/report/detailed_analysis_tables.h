#pragma once

#include "profiler/analysis/detailed_analysis.h"

#include <optional>
#include <string>
#include <vector>

namespace advisor {

/// A table of a detailed analysis; the terminal, the report and the app only lay it out.
struct AnalysisTable {
    struct Cell {
        std::string text;
        double number = 0; ///< sort key for columns of numbers
    };
    struct Row {
        std::vector<Cell> cells;
        std::optional<profiler::SliceId> slice; ///< the slice that shows it
    };
    struct Column {
        std::string title;
        bool number = false;
    };
    std::string key; ///< "launches", "critical_path", "copy_bandwidth"…: the name in `summarize --json`
    std::string heading;
    std::vector<Column> columns;
    std::vector<Row> rows;
    std::string note;
};

/// The launch queue, the critical path, copy bandwidth, callers of memsets and of synchronization, the balance of
/// loader workers, stragglers, and the analyses that the trace does not support, in this order. Each table has rows.
/// @param most maximum number of rows per table
std::vector<AnalysisTable> detailedAnalysisTables(const profiler::Trace& trace,
                                                  const profiler::analysis::DetailedAnalysis& analysis,
                                                  std::size_t most);

} // namespace advisor
