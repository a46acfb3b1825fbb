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

class StepRows : public TableRows {
public:
    StepRows(std::shared_ptr<const Trace> trace, std::shared_ptr<const Steps> steps, std::vector<std::uint32_t> rows)
        : m_trace(std::move(trace)), m_steps(std::move(steps)), m_rows(std::move(rows))
    {
        const QString ns = QStringLiteral("ns");
        m_columns = {{Index, text("Step"), {}, {}, true},
                     {Begin, text("Start"), text("Since the start of the trace"), ns, true},
                     {Duration, text("Duration"), {}, ns, true}};
        for (std::size_t i = 0; i < kStepParts.size(); ++i) {
            const StepPart& part = kStepParts[i];
            const bool any = std::any_of(m_rows.begin(), m_rows.end(), [&](std::uint32_t row) {
                return ((*m_steps)[row].parts.*part.time).count() > 0;
            });
            if (!any)
                continue;
            QString name = stepPartName(part);
            name[0] = name[0].toUpper();
            m_columns.push_back({FirstPart + static_cast<int>(i), name,
                                 text("Time of this part only: the parts add up to the step's duration"), ns, true});
        }
        m_columns.push_back({Remark, text("Remark"), {}, {}, false});
    }

    void sort(TableOrder order)
    {
        if (order.column < 0)
            return;
        std::stable_sort(m_rows.begin(), m_rows.end(), [&](std::uint32_t a, std::uint32_t b) {
            const TableValue left = valueOf((*m_steps)[a], order.column), right = valueOf((*m_steps)[b], order.column);
            return order.descending ? comesBefore(right, left) : comesBefore(left, right);
        });
    }

    [[nodiscard]] std::size_t size() const override { return m_rows.size(); }
    [[nodiscard]] const std::vector<TableColumn>& columns() const override { return m_columns; }
    [[nodiscard]] TableValue value(std::size_t row, std::size_t column) const override
    {
        return valueOf(step(row), m_columns[column].id);
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
    [[nodiscard]] const Trace& trace() const override { return *m_trace; }

private:
    [[nodiscard]] const Step& step(std::size_t row) const { return (*m_steps)[m_rows[row]]; }
    [[nodiscard]] TableValue valueOf(const Step& step, int column) const
    {
        switch (column) {
        case Index:
            return TableValue::ofCount(step.index);
        case Begin:
            return TableValue::ofPosition(step.range.begin - m_trace->range().begin);
        case Duration:
            return TableValue::ofTime(step.range.duration());
        case Remark:
            return step.partial  ? TableValue::ofText(text("incomplete"))
                   : step.warmup ? TableValue::ofText(text("warm-up"))
                   : step.found  ? TableValue::ofText(text("inferred"))
                                 : TableValue();
        default:
            return TableValue::ofTime(step.parts.*kStepParts.at(static_cast<std::size_t>(column - FirstPart)).time);
        }
    }

    std::shared_ptr<const Trace> m_trace;
    std::shared_ptr<const Steps> m_steps;
    std::vector<TableColumn> m_columns;
    std::vector<std::uint32_t> m_rows; ///< indexes into the steps
};

} // namespace

std::shared_ptr<const TableRows> makeStepRows(const std::shared_ptr<const Trace>& trace, const TableQuery& query,
                                              const std::stop_token& stop)
{
    std::vector<std::uint32_t> shown;
    for (std::uint32_t i = 0; i < query.steps->size(); ++i)
        if (!query.filter.range || (*query.steps)[i].range.overlaps(*query.filter.range))
            shown.push_back(i);
    auto rows = std::make_shared<StepRows>(trace, query.steps, std::move(shown));
    rows->sort(query.order);
    return stop.stop_requested() ? nullptr : rows;
}

} // namespace app
