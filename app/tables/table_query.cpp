#include "app/tables/table_query.h"

#include "app/look/qstring.h"
#include "app/tables/slice_details.h"
#include "app/tables/table_scan.h"

#include <algorithm>

namespace app {

using profiler::Slice;
using profiler::Trace;
using profiler::analysis::OpDeviceTimes;

namespace {

bool isDeviceTime(Field field)
{
    return field == Field::DeviceTime || field == Field::DeviceSelf;
}

/// Only operators have device times.
bool needsDeviceTimes(const TableSubject& subject)
{
    return std::any_of(subject.groupFields.begin(), subject.groupFields.end(), isDeviceTime);
}

} // namespace

std::shared_ptr<const OpDeviceTimes> OpDeviceTimesCache::get(const std::stop_token& stop)
{
    const std::scoped_lock lock(m_lock);
    if (!m_times) {
        auto times = std::make_shared<const OpDeviceTimes>(*m_trace, stop);
        if (stop.stop_requested())
            return nullptr;
        m_times = std::move(times);
    }
    return m_times;
}

QString exactTitle(const TableColumn& column)
{
    return column.exactUnit.isEmpty() ? column.title : QStringLiteral("%1 (%2)").arg(column.title, column.exactUnit);
}

SliceMatcher::SliceMatcher(const FieldContext& context, const Filter& filter) : m_context(context)
{
    for (const FilterCondition& condition : filter)
        if (const auto field = static_cast<Field>(condition.field); !isOfGroup(field))
            m_tests.push_back({condition, field, SliceKey(context, field), {}});
}

bool SliceMatcher::matches(Test& test, const Slice& slice)
{
    switch (test.field) {
    case Field::Duration:
        return test.condition.matchesNumber(static_cast<double>(slice.duration.count()));
    case Field::Begin:
        return test.condition.matchesNumber(
            static_cast<double>((slice.begin - m_context.trace->range().begin).count()));
    default:
        break;
    }
    if (fieldInfo(test.field).unit != TableValue::Unit::Text)
        return test.condition.matches(sliceValue(m_context, slice, test.field));
    const auto key = static_cast<std::size_t>(test.key(slice) + 1);
    if (test.known.size() <= key)
        test.known.resize(std::max(key + 1, test.known.size() * 2), Known::Unknown);
    Known& known = test.known[key];
    if (known == Known::Unknown) {
        // Steps have the title "Step 3", but are found by their name.
        const TableValue value = test.field == Field::Name ? TableValue::ofText(asQString(m_context.trace->name(slice)))
                                                           : sliceValue(m_context, slice, test.field);
        known = test.condition.matches(value) ? Known::Yes : Known::No;
    }
    return known == Known::Yes;
}

bool SliceMatcher::operator()(const Slice& slice)
{
    return std::all_of(m_tests.begin(), m_tests.end(), [&](Test& test) { return matches(test, slice); });
}

std::vector<TableColumn> columnsOf(const std::vector<Field>& fields, const std::vector<Field>& extra)
{
    std::vector<TableColumn> columns;
    for (const Field field : fields) {
        const FieldInfo info = fieldInfo(field);
        const bool shown = std::find(extra.begin(), extra.end(), field) == extra.end();
        columns.push_back({static_cast<int>(field), QString::fromLatin1(info.keyword), info.title, info.what,
                           exactUnit(field), isFigure(field), shown});
    }
    return columns;
}

bool scan(const FieldContext& context, const TableSubject& subject, const TableFilter& filter, ScanProgress progress,
          const std::stop_token& stop, const std::function<void(const Slice&)>& visit)
{
    const Trace& trace = *context.trace;
    const profiler::TimeRange window =
        filter.range.value_or(profiler::TimeRange{trace.range().begin, trace.range().end + profiler::Nanoseconds{1}});
    SliceMatcher matches(context, filter.conditions);
    for (const profiler::Track& track : trace.tracks()) {
        trace.forEach(track.id, window, [&](const Slice& slice) {
            progress.step();
            if (subject.holds(slice.kind) && matches(slice))
                visit(slice);
            return !stop.stop_requested();
        });
        if (stop.stop_requested())
            return false;
    }
    return true;
}

std::shared_ptr<const TableRows> runQuery(const std::shared_ptr<const Trace>& trace, const TableSubject& subject,
                                          const TableQuery& query, const std::function<void(double)>& progress,
                                          const std::stop_token& stop)
{
    if (!subject.hasNames())
        return makeStepRows(trace, query, stop);
    std::shared_ptr<const OpDeviceTimes> deviceTimes;
    if (query.deviceTimes && needsDeviceTimes(subject)) {
        deviceTimes = query.deviceTimes->get(stop);
        if (!deviceTimes)
            return nullptr;
    }
    return query.grouping.empty() ? makeSliceRows(trace, subject, query, deviceTimes, progress, stop)
                                  : makeGroupRows(trace, subject, query, deviceTimes, progress, stop);
}

std::vector<FilterField> filterFieldsOf(const TableSubject& subject, const TableGrouping& grouping)
{
    return subject.hasNames() ? filterFields(!grouping.empty()) : stepFilterFields();
}

} // namespace app
