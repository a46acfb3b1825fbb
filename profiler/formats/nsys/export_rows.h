#pragma once

#include "profiler/formats/nsys/export_schema.h"
#include "profiler/formats/nsys/export_tracks.h"
#include "profiler/model/result.h"
#include "profiler/model/slice_columns.h"
#include "profiler/model/trace.h"

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

/// The rows of an export that become slices and samples: what their readers share, where a slice came from, and which
/// defects were found.
namespace profiler::formats::nsys {

/// Defects of rows in an export.
enum class Loss : std::uint8_t {
    NoLaunch,
    NoTime,  ///< dropped
    FarTime, ///< dropped: outside the TimeWindow
    NoPlace, ///< dropped: an invalid device or stream number
    NegativeTime,
    Backwards,
    Open,
    NoName, ///< an id that is missing from StringIds
    NegativeBytes,
    SharedCall, ///< a correlation id shared with another call of the process
    Doubled,    ///< device work that occurred before
    Overlapping,
    Count,
};

/// For each kind of loss, the number of rows and the first one. Also collects damaged tables and events lost by the
/// profiler.
class Losses {
public:
    /// Counts rows of a table; `row` is the first of them. The first row reported for a kind of loss is the first one
    /// added.
    void add(Loss loss, std::string_view table, std::int64_t row, std::uint64_t count = 1);
    /// Adds one sentence per kind of loss, and the totals.
    void report(CaptureStats& stats) const;

    std::vector<Error> damaged; ///< of tables that were only partly readable
    std::uint64_t lost = 0;     ///< events that the profiler reports as lost

private:
    struct Met {
        std::uint64_t count = 0;
        std::string table;
        std::int64_t row = 0;
    };
    std::array<Met, static_cast<std::size_t>(Loss::Count)> m_met;
};

/// The valid time range of a recording. A single row with a corrupt time would stretch the trace over years and distort
/// every figure that is relative to its length.
struct TimeWindow {
    std::int64_t first = -RawSlice::kTimeLimit, last = RawSlice::kTimeLimit; ///< ns

    [[nodiscard]] bool holds(std::int64_t time) const { return time >= first && time <= last; }
    /// A window around the median `start` of evenly spaced rows of these tables. Costs a few look-ups.
    static TimeWindow of(const SqliteFile& file, const ExportSchema& schema, std::span<const std::string_view> tables);

    static constexpr std::int64_t kReach = std::int64_t{30} * 24 * 3600 * 1'000'000'000; ///< 30 days in each direction
};

/// Estimates the number of rows of a table by its largest row id, which is cheap to query. The value is limited so that
/// sums do not overflow. 0 if the query fails.
std::int64_t rowsOf(const SqliteFile& file, std::string_view table);

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

// The readers of the tables (event_rows.cpp).
Result<void> readDeviceWork(Import& import);
Result<void> readHostCalls(Import& import);
Result<void> readNvtx(Import& import);
Result<void> readMemoryUse(Import& import);
/// Samples of the GPU's hardware counters ("SMs Active [Throughput %]").
Result<void> readMetrics(Import& import);

} // namespace profiler::formats::nsys
