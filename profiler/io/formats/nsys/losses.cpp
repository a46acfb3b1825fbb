#include "profiler/io/formats/nsys/losses.h"
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
             "{count} {count|piece of device work has|pieces of device work have} no launch in the file "
             "({count||the first in }{table}, row {row}).">},
    {message<"nsys.loss.no_time",
             "{count} {count|row has no time and is|rows have no time and are} left out ({count||the first in "
             "}{table}, row {row}).">,
     true},
    {message<"nsys.loss.far_time",
             "{count} {count|row has a time more than 30 days away from the others' and is|rows have times "
             "more than 30 days away from the others' and are} left out ({count||the first in }{table}, row "
             "{row}).">,
     true},
    {message<"nsys.loss.no_place",
             "{count} {count|row is of a device or stream whose number cannot be and is|rows are of devices "
             "or streams whose numbers cannot be and are} left out ({count||the first in }{table}, row {row}).">,
     true},
    {message<"nsys.loss.negative_time",
             "{count} {count|row begins before the recording does, at a negative time: it is|rows begin "
             "before the recording does, at negative times: they are} shown there ({count||the first in "
             "}{table}, row {row}).">},
    {message<"nsys.loss.backwards",
             "{count} {count|row ends before it begins: it is|rows end before they begin: they are} shown as "
             "empty ({count||the first in }{table}, row {row}).">},
    {message<"nsys.loss.open",
             "{count} {count|range has no end: it is|ranges have no end: they are} shown as open ({count||the "
             "first in }{table}, row {row}).">},
    {message<"nsys.loss.no_name",
             "{count} {count|row has a name that the file does not hold: it is shown without one|rows have "
             "names that the file does not hold: they are shown without them} ({count||the first in }{table}, "
             "row {row}).">},
    {message<"nsys.loss.negative_bytes",
             "{count} {count|row moves a negative number of bytes: the number is|rows move a negative number "
             "of bytes: the numbers are} left out ({count||the first in }{table}, row {row}).">},
    {message<"nsys.loss.shared_call",
             "{count} {count|call has the correlation id of another call of its process|calls have "
             "correlation ids of other calls of their process}: device work is joined to one of them only "
             "({count||the first in }{table}, row {row}).">},
    {message<"nsys.loss.doubled",
             "{count} {count|piece of device work is|pieces of device work are} in the file twice, with the "
             "same stream, times, name and launch: {count|it counts|they count} twice ({count||the first in "
             "}{table}, row {row}).">},
    {message<"nsys.loss.overlapping",
             "{count} {count|slice ends after the slice that it begins in: it is|slices end after the slices "
             "that they begin in: they are} shown one row deeper ({count||the first in }{table}, row {row}).">},
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
        stats.notes.push_back(message<"nsys.read_in_part", "Read in part: {why}">(
            {{"why", damage.message()}, {"error", damage.what.id}}));
}

} // namespace profiler::formats::nsys
