#pragma once

#include "profiler/io/formats/nsys/export_tracks.h"
#include "profiler/io/formats/nsys/losses.h"
#include "profiler/io/formats/nsys/time_window.h"

#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace profiler::formats::nsys {

/// The tables whose rows become slices. A slice's place in its source is its table and row.
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

/// 4 bits of table, 36 bits of row id; 0, nowhere, where a row id is too large.
std::uint64_t placeOf(Source source, std::int64_t row);
struct Place {
    Source source;
    std::int64_t row;
};
Place placeFrom(std::uint64_t place);

/// A piece of device work.
struct Work {
    std::int64_t link = 0;   ///< the trace's correlation; 0: it names no launch
    std::uint64_t place = 0; ///< placeOf()
    std::uint64_t print = 0; ///< a hash of all that tells it from another one
};
/// A call that may launch device work.
struct Call {
    std::int64_t link = 0;     ///< the trace's correlation
    std::uint64_t place : 40;  ///< placeOf()
    std::uint64_t driver : 1;  ///< of the driver's API: it may lie in one of the runtime's and have its id
    std::uint64_t second : 23; ///< of its begin
};

/// Everything that the readers of tables share.
struct Import {
    const SqliteFile& file;
    const ExportSchema& schema;
    TraceBuilder& builder;
    ExportStrings& strings;
    const ExportEnums& enums;
    ExportTracks& tracks;
    TimeWindow window;
    Losses losses;
    std::function<void()> rowRead;                         ///< called for every row, for progress; may be empty
    std::map<std::string, std::int64_t, std::less<>> rows; ///< read, by table
    /// Waits of the host whose thread only their runtime call names: by correlation.
    std::unordered_map<std::int64_t, std::vector<RawSlice>> waits;
    std::vector<Call> called;
    std::vector<Work> worked;
    std::int64_t process = 0;  ///< globalPid of rows that name none; 0: not known
    std::int64_t lastTime = 0; ///< latest end seen
};

/// Visits the rows of a table, if the file has it. Damage inside it keeps what was read and makes a note.
/// @return Cancelled only
/// @param clause  SQL after the table's name; with one the rows do not count as read
Result<void> forEachRow(Import& import, std::string_view table, const std::vector<std::string_view>& columns,
                        const std::function<void(const Rows&)>& visit, const std::string& clause = {});
/// A slice of columns 1 and 2 (`start`, `end`) of a row; empty where they hold no times,
/// and where these are out of the window, which is counted.
/// @param instant  the row needs no end
std::optional<RawSlice> timed(Import& import, const Rows& row, Source source, bool instant = false);

/// The name of a row by its id in StringIds, 0 where it has none; one that StringIds lacks is counted.
std::uint32_t named(Import& import, const Rows& row, int column, std::string_view table);

/// Finds what only all rows together show: work without its launch, ids that calls share, rows that are there twice.
void checkCorrelations(Import& import);

Result<void> readDeviceWork(Import& import);
Result<void> readHostCalls(Import& import);
Result<void> readNvtx(Import& import);
Result<void> readMemoryUse(Import& import);
/// Samples of the GPU's own counters ("SMs Active [Throughput %]").
Result<void> readMetrics(Import& import);
/// Versions, times, losses that the profiler reports: metadata and notes.
Result<void> readDescription(Import& import);

} // namespace profiler::formats::nsys
