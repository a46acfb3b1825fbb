#include "profiler/formats/nsys/losses.h"
#include "profiler/model/number_text.h"

#include <initializer_list>

namespace profiler::formats::nsys {

namespace {

struct Wording {
    Message (*make)(std::initializer_list<MessageParameter>);
    bool dropped = false;
};

constexpr std::array<Wording, static_cast<std::size_t>(Loss::Count)> kWordings = {{
    {message<"nsys.loss.no_launch",
             "{count} device {count|operation has|operations have} no launch in the file ({count||the first in "
             "}{table}, row {row}).">},
    {message<"nsys.loss.no_time",
             "{count} {count|row|rows} without a timestamp {count|was|were} skipped ({count||the first in }{table}, "
             "row {row}).">,
     true},
    {message<"nsys.loss.far_time",
             "{count} {count|row with a timestamp|rows with timestamps} more than 30 days away from the others "
             "{count|was|were} skipped ({count||the first in }{table}, row {row}).">,
     true},
    {message<"nsys.loss.no_place",
             "{count} {count|row|rows} with an invalid device or stream number {count|was|were} skipped ({count||the "
             "first in }{table}, row {row}).">,
     true},
    {message<"nsys.loss.negative_time",
             "{count} {count|row has a negative timestamp and is|rows have negative timestamps and are} shown before "
             "the start of the recording ({count||the first in }{table}, row {row}).">},
    {message<"nsys.loss.backwards",
             "{count} {count|row ends before it starts and is|rows end before they start and are} shown with zero "
             "duration ({count||the first in }{table}, row {row}).">},
    {message<"nsys.loss.open",
             "{count} {count|range has no end and is|ranges have no end and are} shown as open ({count||the first in "
             "}{table}, row {row}).">},
    {message<"nsys.loss.no_name",
             "{count} {count|row has a name id that is missing from the file and is|rows have name ids that are "
             "missing from the file and are} shown without a name ({count||the first in }{table}, row {row}).">},
    {message<"nsys.loss.negative_bytes",
             "{count} {count|row has a negative number of bytes, which was|rows have negative numbers of bytes, "
             "which were} ignored ({count||the first in }{table}, row {row}).">},
    {message<"nsys.loss.shared_call",
             "{count} {count|call has the same correlation id as|calls have the same correlation ids as} other calls "
             "of the process; device work is connected to only one of them ({count||the first in }{table}, row "
             "{row}).">},
    {message<"nsys.loss.doubled",
             "{count} device {count|operation is|operations are} in the file twice, with the same stream, times, "
             "name and launch, and {count|counts|count} twice ({count||the first in }{table}, row {row}).">},
    {message<"nsys.loss.overlapping",
             "{count} {count|slice ends after the slice that it starts in and is|slices end after the slices that "
             "they start in and are} shown one row deeper ({count||the first in }{table}, row {row}).">},
}};

} // namespace

void Losses::add(Loss loss, std::string_view table, std::int64_t row, std::uint64_t count)
{
    Met& met = m_met[static_cast<std::size_t>(loss)];
    if (met.count == 0 && count > 0) {
        met.table = table;
        met.row = row;
    }
    met.count += count;
}

void Losses::report(CaptureStats& stats) const
{
    for (std::size_t i = 0; i < m_met.size(); ++i) {
        const Met& met = m_met[i];
        if (met.count == 0)
            continue;
        const Wording& wording = kWordings[i];
        stats.dropped += wording.dropped ? met.count : 0;
        stats.notes.push_back(
            wording.make({{"count", met.count, countText(met.count)}, {"table", met.table}, {"row", met.row}}));
    }
    stats.unmatched += m_met[static_cast<std::size_t>(Loss::NoLaunch)].count;
    stats.dropped += lost;
    for (const Error& damage : damaged)
        stats.notes.push_back(message<"nsys.read_in_part", "The file was only partly read: {why}">(
            {{"why", damage.message()}, {"error", damage.what.id}}));
}

} // namespace profiler::formats::nsys
