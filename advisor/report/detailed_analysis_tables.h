#pragma once

#include "profiler/analysis/detailed_analysis.h"

#include <optional>
#include <string>
#include <vector>

namespace advisor {

/// A table of a closer look in words, for whatever shows it: a terminal, a report, the app.
struct LookTable {
    struct Cell {
        std::string text;
        double number = 0; ///< to sort by, in columns of numbers
    };
    struct Row {
        std::vector<Cell> cells;
        std::optional<profiler::SliceId> slice; ///< that shows it
    };
    struct Column {
        std::string title;
        bool number = false;
    };
    std::string key; ///< "launches", "critical_path", "copy_bandwidth"…: as `summarize --json` calls it
    std::string heading;
    std::vector<Column> columns;
    std::vector<Row> rows;
    std::string note;
};

/// The device's queue, the critical path, copies against the best that they can reach, who fills memory, who waits for
/// the device, the balance of loader workers, stragglers, in this order; what the trace does not tell is left out.
/// @param most  rows of a table
std::vector<LookTable> lookTables(const profiler::Trace& trace, const profiler::analysis::DetailedAnalysis& look,
                                  std::size_t most);

/// A table of what the trace does not tell, and why; without rows: it tells all.
LookTable cannotTellTable(const profiler::analysis::DetailedAnalysis& look);

} // namespace advisor
