#include "app/tables/table_scan.h"

#include <algorithm>
#include <numeric>

// Tables with one row per slice.
namespace app {

using profiler::Slice;
using profiler::SliceId;
using profiler::Trace;

namespace {

/// A slice and its sort key.
struct Keyed {
    std::int64_t key;
    SliceId id;
};

class SliceRows : public TableRows {
public:
    SliceRows(std::shared_ptr<const Trace> trace, std::vector<Field> fields, std::shared_ptr<const Steps> steps,
              std::vector<SliceId> ids)
        : m_trace(std::move(trace)), m_steps(std::move(steps)), m_fields(std::move(fields)),
          m_columns(columnsOf(m_fields)), m_ids(std::move(ids))
    {
    }

    [[nodiscard]] std::size_t size() const override { return m_ids.size(); }
    [[nodiscard]] const std::vector<TableColumn>& columns() const override { return m_columns; }
    [[nodiscard]] TableValue value(std::size_t row, std::size_t column) const override
    {
        return sliceValue(*m_trace, m_trace->slice(m_ids[row]), m_fields[column], *m_steps);
    }
    [[nodiscard]] SliceId slice(std::size_t row) const override { return m_ids[row]; }
    [[nodiscard]] SliceClass sliceClass(std::size_t row) const override
    {
        const Slice slice = m_trace->slice(m_ids[row]);
        return classify(slice.kind, m_trace->name(slice));
    }
    [[nodiscard]] std::optional<std::size_t> find(const Slice& slice) const override
    {
        const auto found = std::find(m_ids.begin(), m_ids.end(), slice.id);
        return found == m_ids.end() ? std::nullopt : std::optional{static_cast<std::size_t>(found - m_ids.begin())};
    }
    [[nodiscard]] const Trace& trace() const override { return *m_trace; }

private:
    std::shared_ptr<const Trace> m_trace;
    std::shared_ptr<const Steps> m_steps;
    std::vector<Field> m_fields;
    std::vector<TableColumn> m_columns;
    std::vector<SliceId> m_ids;
};

/// Finds the fields that at least one slice has; empty columns are left out.
class FieldsSeen {
public:
    FieldsSeen(const Trace& trace, std::vector<Field> all, const Steps& steps)
        : m_trace(&trace), m_all(std::move(all)), m_steps(&steps)
    {
        for (const Field field : m_all)
            if (isOptional(field))
                m_unseen.push_back(field);
    }
    void look(const Slice& slice)
    {
        std::erase_if(m_unseen, [&](Field field) { return applies(*m_trace, slice, field, *m_steps); });
    }
    [[nodiscard]] std::vector<Field> fields() const
    {
        std::vector<Field> seen = m_all;
        std::erase_if(
            seen, [&](Field field) { return std::find(m_unseen.begin(), m_unseen.end(), field) != m_unseen.end(); });
        return seen;
    }

private:
    const Trace* m_trace;
    std::vector<Field> m_all, m_unseen;
    const Steps* m_steps;
};

/// Alphabetical ranks of distinct texts, by StringId.
std::vector<std::uint32_t> ranksOf(const Trace& trace, std::vector<profiler::StringId> texts)
{
    std::vector<std::uint32_t> ranks(trace.stringCount());
    std::sort(texts.begin(), texts.end(),
              [&](profiler::StringId a, profiler::StringId b) { return trace.string(a) < trace.string(b); });
    for (std::uint32_t i = 0; i < texts.size(); ++i)
        ranks[texts[i].value] = i;
    return ranks;
}

/// Texts get their ranks when all are known; until then the keys contain the ids.
void rankTexts(const Trace& trace, std::vector<Keyed>& rows)
{
    std::vector<profiler::StringId> used;
    std::vector<bool> seen(trace.stringCount());
    for (const Keyed& row : rows) {
        const auto id = static_cast<std::size_t>(row.key);
        if (!seen[id])
            used.push_back({static_cast<std::uint32_t>(id)});
        seen[id] = true;
    }
    const std::vector<std::uint32_t> ranks = ranksOf(trace, used);
    for (Keyed& row : rows)
        row.key = ranks[static_cast<std::size_t>(row.key)];
}

/// Sorts runs and merges them, so that it can report progress and stop. False when stopped.
bool sortRows(std::vector<Keyed>& rows, bool descending, const std::function<void(double)>& tell,
              const std::stop_token& stop)
{
    const auto before = [descending](const Keyed& a, const Keyed& b) {
        if (a.key != b.key)
            return (a.key < b.key) != descending;
        return a.id < b.id;
    };
    if (std::is_sorted(rows.begin(), rows.end(), before))
        return true;
    constexpr std::size_t kRun = 1 << 18;
    const std::size_t size = rows.size();
    const auto at = [&](std::size_t i) { return rows.begin() + static_cast<std::ptrdiff_t>(std::min(i, size)); };
    const auto report = [&](double share) {
        if (tell)
            tell(0.6 + 0.4 * share);
        return !stop.stop_requested();
    };
    for (std::size_t i = 0; i < size; i += kRun) {
        std::sort(at(i), at(i + kRun), before);
        if (!report(0.5 * static_cast<double>(i) / static_cast<double>(size)))
            return false;
    }
    for (std::size_t width = kRun; width < size; width *= 2)
        for (std::size_t i = 0; i + width < size; i += 2 * width) {
            std::inplace_merge(at(i), at(i + width), at(i + 2 * width), before);
            if (!report(0.5 + 0.5 * static_cast<double>(width) / static_cast<double>(size)))
                return false;
        }
    return true;
}

} // namespace

std::shared_ptr<const TableRows> makeSliceRows(const std::shared_ptr<const Trace>& trace, const TableSubject& subject,
                                               const TableQuery& query, const std::function<void(double)>& progress,
                                               const std::stop_token& stop)
{
    std::vector<Keyed> rows;
    const Field field = query.order.column < 0 ? Field::Begin : static_cast<Field>(query.order.column);
    FieldsSeen seen(*trace, subject.sliceFields, *query.steps);
    const ScanProgress scanned(trace->sliceCount(), 0, 0.6, progress);
    const bool done = scan(*trace, subject, query.filter, scanned, stop, [&](const Slice& slice) {
        rows.push_back({sliceKey(*trace, slice, field, *query.steps), slice.id});
        seen.look(slice);
    });
    if (done && isPooledText(field))
        rankTexts(*trace, rows);
    if (!done || !sortRows(rows, query.order.descending, progress, stop))
        return nullptr;
    std::vector<SliceId> ids(rows.size());
    std::transform(rows.begin(), rows.end(), ids.begin(), [](const Keyed& row) { return row.id; });
    return std::make_shared<SliceRows>(trace, seen.fields(), query.steps, std::move(ids));
}

} // namespace app
