#pragma once

#include "profiler/formats/nsys/export_tracks.h"
#include "profiler/formats/nsys/losses.h"
#include "profiler/formats/nsys/time_window.h"

#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace profiler::formats::nsys {

/// The tables whose rows become slices. The source position of a slice is its table and row.
enum class Source : std::uint8_t {
    Kernel,
    Memcpy,
    Memset,
    GraphTrace,
    Runtime,
    Synchronization,
    Overhead,
    ProfilerOverhead,
    Nvtx,
    OsRuntime,
    Cublas,
    Cudnn
};
inline constexpr int kSources = static_cast<int>(Source::Cudnn) + 1;
std::string_view tableOf(Source source);

/// 4 bits for the table, 36 bits for the row id. 0 (no place) if the row id is too large.
std::uint64_t placeOf(Source source, std::int64_t row);
struct Place {
    Source source;
    std::int64_t row;
};
Place placeFrom(std::uint64_t place);

/// A piece of device work.
struct Work {
    std::int64_t link = 0;   ///< the trace's correlation id; 0: the row names no launch
    std::uint64_t place = 0; ///< placeOf()
    std::uint64_t print = 0; ///< a hash of everything that distinguishes it from other work
};
/// A call that can launch device work.
struct Call {
    std::int64_t link = 0;     ///< the trace's correlation id
    std::uint64_t place : 40;  ///< placeOf()
    std::uint64_t driver : 1;  ///< driver API; a driver call inside a runtime call may have the same id
    std::uint64_t second : 23; ///< second of its start
};

/// State shared by all table readers.
struct Import {
    const SqliteFile& file;
    const ExportSchema& schema;
    TraceBuilder& builder;
    ExportStrings& strings;
    const ExportEnums& enums;
    ExportTracks& tracks;
    TimeWindow window;
    Losses losses;
    std::function<void()> rowRead;                         ///< called for every row to report progress; may be empty
    std::map<std::string, std::int64_t, std::less<>> rows; ///< rows read, by table
    /// Host waits, by correlation id. Their thread is known only from their runtime call.
    std::unordered_map<std::int64_t, std::vector<RawSlice>> waits;
    std::vector<Call> called;
    std::vector<Work> worked;
    std::int64_t process = 0;  ///< globalPid of rows without one; 0: unknown
    std::int64_t lastTime = 0; ///< latest end seen
};

/// Visits the rows of a table if the file has the table. If the table is damaged, what was read is kept, and a note is
/// added.
/// @return only Cancelled
/// @param clause  SQL after the table's name; if not empty, the rows are not counted as read
Result<void> forEachRow(Import& import, std::string_view table, const std::vector<std::string_view>& columns,
                        const std::function<void(const Rows&)>& visit, const std::string& clause = {});
/// A slice with columns 1 and 2 (`start`, `end`) of a row. Empty if the columns hold no timestamps. Also empty if these
/// are outside the window; such rows are counted.
/// @param instant  the row needs no end
std::optional<RawSlice> timed(Import& import, const Rows& row, Source source, bool instant = false);

/// The name of a row by its id in StringIds, or 0 if the row has none. Ids that StringIds lacks are counted.
std::uint32_t named(Import& import, const Rows& row, int column, std::string_view table);

/// Finds defects that are visible only in all rows together: work without a launch, shared call ids, duplicate rows.
void checkCorrelations(Import& import);

Result<void> readDeviceWork(Import& import);
Result<void> readHostCalls(Import& import);
Result<void> readNvtx(Import& import);
Result<void> readMemoryUse(Import& import);
/// Samples of the GPU's hardware counters ("SMs Active [Throughput %]").
Result<void> readMetrics(Import& import);
/// Versions, times and losses reported by the profiler, as metadata and notes.
Result<void> readDescription(Import& import);

} // namespace profiler::formats::nsys
