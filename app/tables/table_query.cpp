#include "app/tables/table_query.h"

#include "app/look/qstring.h"
#include "app/tables/slice_details.h"
#include "app/tables/table_scan.h"

namespace app {

using profiler::Slice;
using profiler::Trace;

namespace {

constexpr auto kPatternOptions =
    QRegularExpression::CaseInsensitiveOption | QRegularExpression::UseUnicodePropertiesOption;

} // namespace

QString exactTitle(const TableColumn& column)
{
    return column.exactUnit.isEmpty() ? column.title : QStringLiteral("%1 (%2)").arg(column.title, column.exactUnit);
}

QString patternProblem(const TableFilter& filter)
{
    const QRegularExpression pattern(filter.text, kPatternOptions);
    return filter.pattern && !pattern.isValid() ? pattern.errorString() : QString();
}

NameMatcher::NameMatcher(const Trace& trace, const TableFilter& filter)
    : m_trace(&trace), m_filter(&filter),
      m_pattern(filter.pattern ? filter.text : QRegularExpression::escape(filter.text), kPatternOptions)
{
    m_pattern.optimize();
    m_known.resize(trace.stringCount());
}

bool NameMatcher::operator()(profiler::StringId name)
{
    if (m_filter->name && *m_filter->name != name)
        return false;
    if (m_filter->text.isEmpty())
        return true;
    Known& known = m_known[name.value];
    if (known == Known::Unknown)
        known = m_pattern.match(asQString(m_trace->string(name))).hasMatch() ? Known::Yes : Known::No;
    return known == Known::Yes;
}

std::vector<TableColumn> columnsOf(const std::vector<Field>& fields)
{
    std::vector<TableColumn> columns;
    for (const Field field : fields) {
        const FieldTitle title = fieldTitle(field);
        columns.push_back({static_cast<int>(field), title.title, title.what, exactUnit(field), isFigure(field)});
    }
    return columns;
}

bool scan(const Trace& trace, const TableSubject& subject, const TableFilter& filter, ScanProgress progress,
          const std::stop_token& stop, const std::function<void(const Slice&)>& visit)
{
    const profiler::TimeRange window =
        filter.range.value_or(profiler::TimeRange{trace.range().begin, trace.range().end + profiler::Nanoseconds{1}});
    NameMatcher matches(trace, filter);
    for (const profiler::Track& track : trace.tracks()) {
        trace.forEach(track.id, window, [&](const Slice& slice) {
            progress.step();
            if (subject.holds(slice.kind) && matches(slice.name))
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
    return query.grouped ? makeGroupRows(trace, subject, query, progress, stop)
                         : makeSliceRows(trace, subject, query, progress, stop);
}

} // namespace app
