#include "profiler/formats/csv/csv_text.h"
#include "profiler/formats/format.h"

namespace profiler::formats {

Format csv()
{
    return {.title = "Comma-separated values",
            .doc = "Every slice as a row, for spreadsheets and scripts (export only)",
            .extensions = {".csv.gz", ".csv"},
            .write = writers::writeCsv};
}

} // namespace profiler::formats
