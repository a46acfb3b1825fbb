#include "profiler/io/formats/json/losses.h"
#include "profiler/model/number_text.h"

#include <initializer_list>

namespace profiler::formats::json {

namespace {

struct Wording {
    Message (*make)(std::initializer_list<MessageParameter>);
    bool dropped = false;
};

constexpr std::array<Wording, static_cast<std::size_t>(Loss::Count)> kWordings = {{
    {message<"json.loss.malformed",
             "{count} {count|event breaks|events break} JSON's grammar and {count|was|were} left out "
             "({count|byte|the first at byte} {byte}).">,
     true},
    {message<"json.loss.no_object",
             "{count} {count|element of the array of events is no object and was|elements of the array of "
             "events are no objects and were} left out ({count|byte|the first at byte} {byte}).">,
     true},
    {message<"json.loss.too_deep",
             "{count} {count|event is|events are} nested deeper than 1,000,000 levels and {count|was|were} "
             "left out ({count|byte|the first at byte} {byte}).">,
     true},
    {message<"json.loss.too_long",
             "{count} {count|event is|events are} longer than 64 MiB and {count|was|were} left out "
             "({count|byte|the first at byte} {byte}).">,
     true},
    {message<"json.loss.no_time",
             "{count} {count|event has|events have} no readable time and {count|was|were} left out "
             "({count|byte|the first at byte} {byte}).">,
     true},
    {message<"json.loss.huge_time",
             "{count} {count|event lies|events lie} beyond 73 years of {count|its|their} clock's zero and "
             "{count|was|were} left out ({count|byte|the first at byte} {byte}).">,
     true},
    {message<"json.loss.other_phase", "{count} {count|event is of a phase|events are of phases} that no view shows and "
                                      "{count|was|were} left out ({count|byte|the first at byte} {byte}).">,
     true},
    {message<"json.loss.end_without_begin",
             "{count} {count|end of a range has|ends of ranges have} no begin and {count|was|were} left out "
             "({count|byte|the first at byte} {byte}).">,
     true},
    {message<"json.loss.begin_without_end",
             "{count} {count|range has a begin and no end: it is|ranges have a begin and no end: they are} "
             "shown as open ({count|byte|the first at byte} {byte}).">},
    {message<"json.loss.end_of_other",
             "{count} {count|end has a name that no open range has: it ends the innermost one|ends have names "
             "that no open range has: they end the innermost ones} ({count|byte|the first at byte} {byte}).">},
    {message<"json.loss.ends_crossed",
             "{count} {count|range ends before one that begins in it: it is|ranges end before ones that begin "
             "in them: they are} shown side by side ({count|byte|the first at byte} {byte}).">},
    {message<"json.loss.end_args",
             "{count} {count|end of a range has arguments of its own|ends of ranges have arguments of their "
             "own}, which are left out ({count|byte|the first at byte} {byte}).">},
    {message<"json.loss.no_duration",
             "{count} {count|whole event has no duration: it is shown as an instant|whole events have no "
             "duration: they are shown as instants} ({count|byte|the first at byte} {byte}).">},
    {message<"json.loss.huge_duration",
             "{count} {count|whole event has a duration beyond 73 years: it is shown as an instant|whole "
             "events have durations beyond 73 years: they are shown as instants} ({count|byte|the first at "
             "byte} {byte}).">},
    {message<"json.loss.negative_duration",
             "{count} {count|event has a negative duration: it is shown as an instant|events have a negative "
             "duration: they are shown as instants} ({count|byte|the first at byte} {byte}).">},
    {message<"json.loss.flow_without_end",
             "{count} {count|flow has a begin or an end only: no arrow is|flows have a begin or an end only: "
             "no arrows are} shown ({count|byte|the first at byte} {byte}).">},
    {message<"json.loss.flow_without_row",
             "{count} {count|flow has an end on a row without slices: no arrow is|flows have an end on a row "
             "without slices: no arrows are} shown ({count|byte|the first at byte} {byte}).">},
    {message<"json.loss.not_a_number",
             "{count} {count|event holds|events hold} NaN or Infinity, which JSON does not know; the "
             "{count|value is|values are} left out ({count|byte|the first at byte} {byte}).">},
    {message<"json.loss.control_text",
             "{count} {count|event has a bare control character in a text|events have bare control characters "
             "in texts} ({count|byte|the first at byte} {byte}).">},
    {message<"json.loss.bad_escape",
             "{count} {count|event has a backslash that escapes nothing; it is kept as it stands|events have "
             "backslashes that escape nothing; they are kept as they stand} ({count|byte|the first at byte} "
             "{byte}).">},
    {message<"json.loss.bad_utf8",
             "{count} {count|event holds a text that is|events hold texts that are} not UTF-8; the wrong "
             "bytes are replaced ({count|byte|the first at byte} {byte}).">},
    {message<"json.loss.bad_number",
             "{count} {count|event has a number that is no 64-bit integer where one belongs; the value "
             "is|events have numbers that are no 64-bit integers where such belong; the values are} left out "
             "({count|byte|the first at byte} {byte}).">},
    {message<"json.loss.no_comma",
             "{count} {count|comma is missing between two events|commas are missing between events} "
             "({count|byte|the first at byte} {byte}).">},
    {message<"json.loss.bad_args",
             "{count} {count|counter or metadata event has|counter or metadata events have} arguments that "
             "cannot be read ({count|byte|the first at byte} {byte}).">},
    {message<"json.loss.no_number",
             "{count} {count|counter event has a value that is no number: it is|counter events have values "
             "that are no numbers: they are} left out ({count|byte|the first at byte} {byte}).">},
    {message<"json.loss.overlapping",
             "{count} {count|slice ends after the slice that it begins in: it is|slices end after the slices "
             "that they begin in: they are} shown one row deeper ({count|byte|the first at byte} {byte}).">},
    {message<"json.loss.no_launch",
             "{count} {count|piece of device work has|pieces of device work have} no launch in the file "
             "({count|byte|the first at byte} {byte}).">},
    {message<"json.loss.shared_correlation",
             "{count} {count|call has a correlation id that another call of its process has: which work is "
             "its own|calls have correlation ids that other calls of their process have: which work is whose} "
             "is not told ({count|byte|the first at byte} {byte}).">},
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
        stats.notes.push_back(wording.make({{"count", row.count, countText(row.count)}, {"byte", row.first}}));
    }
    stats.unmatched += count(Loss::EndWithoutBegin) + count(Loss::BeginWithoutEnd) + count(Loss::FlowWithoutEnd) +
                       count(Loss::FlowWithoutRow) + count(Loss::NoLaunch);
}

} // namespace profiler::formats::json
