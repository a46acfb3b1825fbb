#include "app/document/step_parts.h"
#include "app/tables/table_scan.h"

#include <QCoreApplication>
#include <algorithm>
#include <numeric>

// The table of steps.
namespace app {

using profiler::Slice;
using profiler::Trace;
using profiler::analysis::Step;

namespace {

QString text(const char* source)
{
    return QCoreApplication::translate("StepRows", source);
}

/// Column ids; the parts of a step follow after Remark.
enum StepColumn : int { Index, Begin, Duration, Remark, FirstPart };

const StepPart& partOf(int column)
{
    return kStepParts.at(static_cast<std::size_t>(column - FirstPart));
}

/// "data-wait".
QString keywordOf(const StepPart& part)
{
    return QString::fromLatin1(part.name).replace(u' ', u'-');
}

TableValue valueOf(const Trace& trace, const Step& step, int column)
{
    switch (column) {
    case Index:
        return TableValue::ofCount(step.index);
    case Begin:
        return TableValue::ofPosition(step.range.begin - trace.range().begin);
    case Duration:
        return TableValue::ofTime(step.range.duration());
    case Remark:
        return step.partial  ? TableValue::ofText(text("incomplete"))
               : step.warmup ? TableValue::ofText(text("warm-up"))
               : step.found  ? TableValue::ofText(text("inferred"))
                             : TableValue();
    default:
        return TableValue::ofTime(step.parts.*partOf(column).time);
    }
}

class StepRows : public TableRows {
public:
    StepRows(std::shared_ptr<const Trace> trace, std::shared_ptr<const Steps> steps, std::vector<std::uint32_t> rows)
        : m_trace(std::move(trace)), m_steps(std::move(steps)), m_rows(std::move(rows))
    {
        const QString ns = QStringLiteral("ns");
        m_columns = {{Index, "step", text("Step"), {}, {}, true},
                     {Begin, "start", text("Start"), text("Since the start of the trace"), ns, true},
                     {Duration, "dur", text("Duration"), {}, ns, true}};
        for (std::size_t i = 0; i < kStepParts.size(); ++i) {
            const StepPart& part = kStepParts[i];
            const bool any = std::any_of(m_rows.begin(), m_rows.end(), [&](std::uint32_t row) {
                return ((*m_steps)[row].parts.*part.time).count() > 0;
            });
            if (!any)
                continue;
            QString name = stepPartName(part);
            name[0] = name[0].toUpper();
            m_columns.push_back({FirstPart + static_cast<int>(i), keywordOf(part), name,
                                 text("Time of this part only: the parts add up to the step's duration"), ns, true});
        }
        m_columns.push_back({Remark, "remark", text("Remark"), {}, {}, false});
    }

    void sort(const TableOrder& order)
    {
        for (auto key = order.rbegin(); key != order.rend(); ++key)
            std::stable_sort(m_rows.begin(), m_rows.end(), [&](std::uint32_t a, std::uint32_t b) {
                const TableValue left = valueOf(*m_trace, (*m_steps)[a], key->column),
                                 right = valueOf(*m_trace, (*m_steps)[b], key->column);
                return key->descending ? comesBefore(right, left) : comesBefore(left, right);
            });
    }

    [[nodiscard]] std::size_t size() const override { return m_rows.size(); }
    [[nodiscard]] const std::vector<TableColumn>& columns() const override { return m_columns; }
    [[nodiscard]] TableValue value(std::size_t row, std::size_t column) const override
    {
        return valueOf(*m_trace, step(row), m_columns[column].id);
    }
    [[nodiscard]] profiler::SliceId slice(std::size_t row) const override { return step(row).slice; }
    [[nodiscard]] SliceClass sliceClass(std::size_t) const override { return SliceClass::Step; }
    [[nodiscard]] std::optional<std::size_t> find(const Slice& slice) const override
    {
        // Any slice within a step links to the step.
        for (std::size_t row = 0; row < size(); ++row)
            if (step(row).range.contains(slice.begin))
                return row;
        return std::nullopt;
    }
    [[nodiscard]] std::shared_ptr<const TableRows> sorted(const TableOrder& order,
                                                          const std::stop_token&) const override
    {
        auto rows = std::make_shared<StepRows>(*this);
        std::sort(rows->m_rows.begin(), rows->m_rows.end());
        rows->sort(order);
        return rows;
    }
    [[nodiscard]] const Trace& trace() const override { return *m_trace; }

private:
    [[nodiscard]] const Step& step(std::size_t row) const { return (*m_steps)[m_rows[row]]; }
    std::shared_ptr<const Trace> m_trace;
    std::shared_ptr<const Steps> m_steps;
    std::vector<TableColumn> m_columns;
    std::vector<std::uint32_t> m_rows; ///< indexes into the steps
};

} // namespace

std::vector<FilterField> stepFilterFields()
{
    std::vector<FilterField> fields = {{Remark, "remark", TableValue::Unit::Text},
                                       {Index, "step", TableValue::Unit::Count},
                                       {Begin, "start", TableValue::Unit::Position},
                                       {Duration, "dur", TableValue::Unit::Time}};
    for (std::size_t i = 0; i < kStepParts.size(); ++i)
        fields.push_back({FirstPart + static_cast<int>(i), keywordOf(kStepParts[i]), TableValue::Unit::Time});
    return fields;
}

std::shared_ptr<const TableRows> makeStepRows(const std::shared_ptr<const Trace>& trace, const TableQuery& query,
                                              const std::stop_token& stop)
{
    std::vector<std::uint32_t> shown;
    const auto& [conditions, range] = query.filter;
    for (std::uint32_t i = 0; i < query.steps->size(); ++i) {
        const Step& step = (*query.steps)[i];
        const bool matches = std::all_of(conditions.begin(), conditions.end(), [&](const FilterCondition& condition) {
            return condition.matches(valueOf(*trace, step, condition.field));
        });
        if (matches && (!range || step.range.overlaps(*range)))
            shown.push_back(i);
    }
    auto rows = std::make_shared<StepRows>(trace, query.steps, std::move(shown));
    rows->sort(query.order);
    return stop.stop_requested() ? nullptr : rows;
}

} // namespace app
