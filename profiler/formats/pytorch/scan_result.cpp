#include "profiler/formats/pytorch/scan_result.h"

#include "profiler/model/number_text.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <utility>

namespace profiler::formats::json {

namespace {

template <class T>
void appendAll(std::vector<T>& whole, std::vector<T>&& part)
{
    whole.insert(whole.end(), std::make_move_iterator(part.begin()), std::make_move_iterator(part.end()));
}

void unite(std::vector<bool>& whole, const std::vector<bool>& part)
{
    whole.resize(std::max(whole.size(), part.size()));
    for (std::size_t i = 0; i < part.size(); ++i)
        if (part[i])
            whole[i] = true;
}

struct Wording {
    Message (*make)(std::initializer_list<MessageParameter>);
    bool dropped = false;
};

constexpr std::array<Wording, static_cast<std::size_t>(Loss::Count)> kWordings = {{
    {message<"json.loss.malformed",
             "{count} {count|event with a JSON syntax error was|events with JSON syntax errors were} skipped "
             "({count|byte|the first at byte} {byte}).">,
     true},
    {message<"json.loss.no_object",
             "{count} {count|element of the event array is not an object and was|elements of the event array are not "
             "objects and were} skipped ({count|byte|the first at byte} {byte}).">,
     true},
    {message<"json.loss.too_deep",
             "{count} {count|event|events} nested deeper than 1,000,000 levels {count|was|were} skipped "
             "({count|byte|the first at byte} {byte}).">,
     true},
    {message<"json.loss.too_long",
             "{count} {count|event|events} longer than 64 MiB {count|was|were} skipped ({count|byte|the first at "
             "byte} {byte}).">,
     true},
    {message<"json.loss.no_time",
             "{count} {count|event|events} without a readable timestamp {count|was|were} skipped ({count|byte|the "
             "first at byte} {byte}).">,
     true},
    {message<"json.loss.huge_time",
             "{count} {count|event|events} with a timestamp more than 73 years from zero {count|was|were} skipped "
             "({count|byte|the first at byte} {byte}).">,
     true},
    {message<"json.loss.other_phase",
             "{count} {count|event of an unsupported type (ph) was|events of unsupported types (ph) were} skipped "
             "({count|byte|the first at byte} {byte}).">,
     true},
    {message<"json.loss.end_without_begin",
             "{count} range {count|end|ends} without a start {count|was|were} skipped ({count|byte|the first at "
             "byte} {byte}).">,
     true},
    {message<"json.loss.begin_without_end",
             "{count} {count|range has a start but no end and is|ranges have a start but no end and are} shown as "
             "open ({count|byte|the first at byte} {byte}).">},
    {message<"json.loss.end_of_other",
             "{count} range {count|end has a name that matches no open range; it closes|ends have names that match "
             "no open range; they close} the innermost one ({count|byte|the first at byte} {byte}).">},
    {message<"json.loss.ends_crossed",
             "{count} {count|range ends before a range that starts inside it; they are|ranges end before ranges that "
             "start inside them; these are} shown side by side ({count|byte|the first at byte} {byte}).">},
    {message<"json.loss.end_args",
             "{count} range {count|end has|ends have} arguments of their own, which are not shown ({count|byte|the "
             "first at byte} {byte}).">},
    {message<"json.loss.no_duration",
             "{count} complete {count|event has no duration and is shown as an instant|events have no duration and "
             "are shown as instants} ({count|byte|the first at byte} {byte}).">},
    {message<"json.loss.huge_duration",
             "{count} complete {count|event has a duration over 73 years and is shown as an instant|events have "
             "durations over 73 years and are shown as instants} ({count|byte|the first at byte} {byte}).">},
    {message<"json.loss.negative_duration",
             "{count} {count|event has a negative duration and is shown as an instant|events have negative durations "
             "and are shown as instants} ({count|byte|the first at byte} {byte}).">},
    {message<"json.loss.flow_without_end",
             "{count} {count|flow has only a start or only an end; its arrow is|flows have only a start or only an "
             "end; their arrows are} not shown ({count|byte|the first at byte} {byte}).">},
    {message<"json.loss.flow_without_row",
             "{count} {count|flow starts or ends on a row without slices; its arrow is|flows start or end on rows "
             "without slices; their arrows are} not shown ({count|byte|the first at byte} {byte}).">},
    {message<"json.loss.not_a_number",
             "{count} {count|event contains|events contain} NaN or Infinity, which JSON does not allow; the "
             "{count|value was|values were} ignored ({count|byte|the first at byte} {byte}).">},
    {message<"json.loss.control_text",
             "{count} {count|event contains|events contain} unescaped control characters in strings ({count|byte|the "
             "first at byte} {byte}).">},
    {message<"json.loss.bad_escape",
             "{count} {count|event contains an invalid escape sequence, which is|events contain invalid escape "
             "sequences, which are} shown unchanged ({count|byte|the first at byte} {byte}).">},
    {message<"json.loss.bad_utf8",
             "{count} {count|event contains|events contain} text that is not valid UTF-8; the invalid bytes were "
             "replaced ({count|byte|the first at byte} {byte}).">},
    {message<"json.loss.bad_number",
             "{count} {count|event has a value that is not a 64-bit integer where one is required; the value "
             "was|events have values that are not 64-bit integers where these are required; the values were} ignored "
             "({count|byte|the first at byte} {byte}).">},
    {message<"json.loss.no_comma",
             "{count} {count|comma is missing between two events|commas are missing between events} "
             "({count|byte|the first at byte} {byte}).">},
    {message<"json.loss.bad_args",
             "{count} counter or metadata {count|event has|events have} unreadable arguments ({count|byte|the first "
             "at byte} {byte}).">},
    {message<"json.loss.no_number",
             "{count} counter {count|event has a value that is not a number; it was|events have values that are not "
             "numbers; these were} ignored ({count|byte|the first at byte} {byte}).">},
    {message<"json.loss.overlapping",
             "{count} {count|slice ends after the slice that it starts in and is|slices end after the slices that "
             "they start in and are} shown one row deeper ({count|byte|the first at byte} {byte}).">},
    {message<"json.loss.no_launch",
             "{count} device {count|operation has|operations have} no launch in the file ({count|byte|the first at "
             "byte} {byte}).">},
    {message<"json.loss.shared_correlation",
             "{count} {count|call has the same correlation id as|calls have the same correlation ids as} other calls "
             "of the process, so it is unclear which call launched which work ({count|byte|the first at byte} "
             "{byte}).">},
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

void append(ScanResult& whole, ScanResult&& part)
{
    appendAll(whole.flows, std::move(part.flows));
    appendAll(whole.metadata, std::move(part.metadata));
    appendAll(whole.allocations, std::move(part.allocations));
    unite(whole.stepRows, part.stepRows);
    unite(whole.opRows, part.opRows);
    unite(whole.callRows, part.callRows);
    whole.losses.add(part.losses);
    whole.events += part.events;
    whole.deviceWork += part.deviceWork;
    whole.uncorrelated += part.uncorrelated;
    whole.launchFlows += part.launchFlows;
    whole.markedOps += part.markedOps;
    whole.latest = std::max(whole.latest, part.latest);
}

} // namespace profiler::formats::json
