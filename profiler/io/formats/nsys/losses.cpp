#include "profiler/io/formats/nsys/losses.h"
#include "profiler/model/number_text.h"

#include <fmt/format.h>

namespace profiler::formats::nsys {

namespace {

struct Wording {
    std::string_view one, many;
    bool dropped = false;
};

constexpr std::array<Wording, static_cast<std::size_t>(Loss::Count)> kWordings = {{
    {"piece of device work has no launch in the file", "pieces of device work have no launch in the file"},
    {"row has no time and is left out", "rows have no time and are left out", true},
    {"row has a time more than 30 days away from the others' and is left out",
     "rows have times more than 30 days away from the others' and are left out", true},
    {"row is of a device or stream whose number cannot be and is left out",
     "rows are of devices or streams whose numbers cannot be and are left out", true},
    {"row begins before the recording does, at a negative time: it is shown there",
     "rows begin before the recording does, at negative times: they are shown there"},
    {"row ends before it begins: it is shown as empty", "rows end before they begin: they are shown as empty"},
    {"range has no end: it is shown as open", "ranges have no end: they are shown as open"},
    {"row has a name that the file does not hold: it is shown without one",
     "rows have names that the file does not hold: they are shown without them"},
    {"row moves a negative number of bytes: the number is left out",
     "rows move a negative number of bytes: the numbers are left out"},
    {"call has the correlation id of another call of its process: device work is joined to one of them only",
     "calls have correlation ids of other calls of their process: device work is joined to one of them only"},
    {"piece of device work is in the file twice, with the same stream, times, name and launch: it counts twice",
     "pieces of device work are in the file twice, with the same stream, times, name and launch: they count twice"},
    {"slice ends after the slice that it begins in: it is shown one row deeper",
     "slices end after the slices that they begin in: they are shown one row deeper"},
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
        stats.notes.push_back(fmt::format("{} {} ({}{}, row {}).", countText(met.count),
                                          met.count == 1 ? wording.one : wording.many,
                                          met.count == 1 ? "" : "the first in ", met.table, met.row));
    }
    stats.unmatched += m_met[static_cast<std::size_t>(Loss::NoLaunch)].count;
    stats.dropped += lost;
    for (const std::string& damage : damaged)
        stats.notes.push_back("Read in part: " + damage);
}

} // namespace profiler::formats::nsys
