#include "profiler/io/formats/json/losses.h"
#include "profiler/model/number_text.h"

#include <string>
#include <string_view>

namespace profiler::formats::json {

namespace {

struct Wording {
    std::string_view one, many;
    bool dropped = false;
};

constexpr std::array<Wording, static_cast<std::size_t>(Loss::Count)> kWordings = {{
    {"event breaks JSON's grammar and was left out", "events break JSON's grammar and were left out", true},
    {"element of the array of events is no object and was left out",
     "elements of the array of events are no objects and were left out", true},
    {"event is nested deeper than 1,000,000 levels and was left out",
     "events are nested deeper than 1,000,000 levels and were left out", true},
    {"event is longer than 64 MiB and was left out", "events are longer than 64 MiB and were left out", true},
    {"event has no readable time and was left out", "events have no readable time and were left out", true},
    {"event lies beyond 73 years of its clock's zero and was left out",
     "events lie beyond 73 years of their clock's zero and were left out", true},
    {"event is of a phase that no view shows and was left out",
     "events are of phases that no view shows and were left out", true},
    {"end of a range has no begin and was left out", "ends of ranges have no begin and were left out", true},
    {"range has a begin and no end: it is shown as open", "ranges have a begin and no end: they are shown as open"},
    {"end has a name that no open range has: it ends the innermost one",
     "ends have names that no open range has: they end the innermost ones"},
    {"range ends before one that begins in it: they are shown side by side",
     "ranges end before ones that begin in them: they are shown side by side"},
    {"end of a range has arguments of its own, which are left out",
     "ends of ranges have arguments of their own, which are left out"},
    {"whole event has no duration: it is shown as an instant",
     "whole events have no duration: they are shown as instants"},
    {"whole event has a duration beyond 73 years: it is shown as an instant",
     "whole events have durations beyond 73 years: they are shown as instants"},
    {"event has a negative duration: it is shown as an instant",
     "events have a negative duration: they are shown as instants"},
    {"flow has a begin or an end only: no arrow is shown", "flows have a begin or an end only: no arrows are shown"},
    {"flow has an end on a row without slices: no arrow is shown",
     "flows have an end on a row without slices: no arrows are shown"},
    {"event holds NaN or Infinity, which JSON does not know; the value is left out",
     "events hold NaN or Infinity, which JSON does not know; the values are left out"},
    {"event has a bare control character in a text", "events have bare control characters in texts"},
    {"event has a backslash that escapes nothing; it is kept as it stands",
     "events have backslashes that escape nothing; they are kept as they stand"},
    {"event holds a text that is not UTF-8; the wrong bytes are replaced",
     "events hold texts that are not UTF-8; the wrong bytes are replaced"},
    {"event has a number that is no 64-bit integer where one belongs; the value is left out",
     "events have numbers that are no 64-bit integers where such belong; the values are left out"},
    {"comma is missing between two events", "commas are missing between events"},
    {"counter or metadata event has arguments that cannot be read",
     "counter or metadata events have arguments that cannot be read"},
    {"counter event has a value that is no number: it is left out",
     "counter events have values that are no numbers: they are left out"},
    {"slice ends after the slice that it begins in: it is shown one row deeper",
     "slices end after the slices that they begin in: they are shown one row deeper"},
    {"piece of device work has no launch in the file", "pieces of device work have no launch in the file"},
    {"call has a correlation id that another call of its process has: which work is its own is not told",
     "calls have correlation ids that other calls of their process have: which work is whose is not told"},
}};

} // namespace

void Losses::add(const Losses& other)
{
    for (std::size_t i = 0; i < m_rows.size(); ++i) {
        Row& mine = m_rows[i];
        const Row& row = other.m_rows[i];
        if (row.count > 0)
            mine.first = mine.count == 0 || row.first < mine.first ? row.first : mine.first;
        mine.count += row.count;
    }
}

void Losses::report(CaptureStats& stats) const
{
    for (std::size_t i = 0; i < m_rows.size(); ++i) {
        const Row& row = m_rows[i];
        if (row.count == 0)
            continue;
        const Wording& wording = kWordings[i];
        stats.dropped += wording.dropped ? row.count : 0;
        stats.notes.push_back(countText(row.count) + " " + std::string(row.count == 1 ? wording.one : wording.many) +
                              (row.count == 1 ? " (byte " : " (the first at byte ") + std::to_string(row.first) + ").");
    }
    stats.unmatched += count(Loss::EndWithoutBegin) + count(Loss::BeginWithoutEnd) + count(Loss::FlowWithoutEnd) +
                       count(Loss::FlowWithoutRow) + count(Loss::NoLaunch);
}

} // namespace profiler::formats::json
