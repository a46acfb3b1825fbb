#include "app/look/short_name.h"
#include "app/tables/row_sort.h"
#include "app/tables/table_scan.h"
#include "profiler/analysis/slice_view.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

// Tables with one row per slice.
namespace app {

using profiler::Slice;
using profiler::SliceId;
using profiler::Trace;
using profiler::analysis::OpDeviceTimes;
using profiler::analysis::SliceView;

namespace {

/// Alphabetical ranks of distinct texts, as they are displayed, instead of their ids.
/// @param names  the texts are names of slices
void rankTexts(const Trace& trace, std::vector<std::int64_t>& keys, bool names)
{
    std::vector<std::int64_t> ranks(trace.stringCount(), -1);
    std::vector<std::pair<std::string, profiler::StringId>> used;
    for (const std::int64_t key : keys)
        if (std::int64_t& rank = ranks[static_cast<std::size_t>(key)]; rank < 0) {
            rank = 0;
            const profiler::StringId id{static_cast<std::uint32_t>(key)};
            used.emplace_back(names ? shortKernelName(trace.string(id)).toStdString() : std::string(), id);
        }
    std::sort(used.begin(), used.end(), [&](const auto& a, const auto& b) {
        const int shown = a.first.compare(b.first);
        return shown == 0 ? trace.string(a.second) < trace.string(b.second) : shown < 0;
    });
    for (std::size_t i = 0; i < used.size(); ++i)
        ranks[used[i].second.value] = static_cast<std::int64_t>(i);
    for (std::int64_t& key : keys)
        key = ranks[static_cast<std::size_t>(key)];
}

/// The slices of a table in the order of the trace. Shared by all orders of its rows.
struct FoundSlices {
    std::shared_ptr<const Trace> trace;
    std::shared_ptr<const Steps> steps;
    std::shared_ptr<const OpDeviceTimes> deviceTimes;
    std::vector<Field> fields;
    std::vector<TableColumn> columns;
    std::vector<SliceId> ids;

    [[nodiscard]] FieldContext context() const { return {trace.get(), steps.get(), deviceTimes.get()}; }

    /// The keys of a field by position in `ids`; incomplete if stopped.
    [[nodiscard]] std::vector<std::int64_t> keys(Field field, const std::stop_token& stop) const
    {
        SliceKey keyOf(context(), field);
        std::vector<std::int64_t> found;
        switch (field) { // one column of the blocks instead of whole slices
        case Field::Duration:
            found = read([](const SliceView& view) { return view.duration().count(); }, stop);
            break;
        case Field::Begin:
            found = read([](const SliceView& view) { return toNs(view.begin()); }, stop);
            break;
        case Field::Name:
            found = read([](const SliceView& view) { return std::int64_t{view.nameId().value}; }, stop);
            break;
        default:
            found = read([&](const SliceView& view) { return keyOf(view.slice()); }, stop);
            break;
        }
        if (isPooledText(field) && !stop.stop_requested())
            rankTexts(*trace, found, field == Field::Name);
        return found;
    }

private:
    /// Reads the slices in the order of the trace. O(slices of the tracks), but most of them cost only a comparison.
    template <class Read>
    [[nodiscard]] std::vector<std::int64_t> read(Read&& key, const std::stop_token& stop) const
    {
        std::vector<std::int64_t> keys(ids.size());
        std::size_t at = 0;
        while (at < ids.size() && !stop.stop_requested()) {
            const std::size_t before = at;
            const profiler::TrackId track = ids[at].track;
            profiler::analysis::forEachView(
                *trace, track,
                [&](const SliceView& view) {
                    if (at < ids.size() && ids[at].track == track && ids[at] == view.id()) {
                        keys[at] = key(view);
                        ++at;
                    }
                },
                stop);
            if (at == before) // its block can no longer be read from the file
                break;
        }
        return keys;
    }
};

class SliceRows : public TableRows {
public:
    explicit SliceRows(std::shared_ptr<const FoundSlices> found)
        : m_found(std::move(found)), m_order(m_found->ids.size())
    {
        std::iota(m_order.begin(), m_order.end(), 0U);
    }

    /// @return false if stopped
    bool sort(const TableOrder& order, const std::stop_token& stop)
    {
        const TableOrder byStart{{static_cast<int>(Field::Begin), false}};
        return sortRows(
            m_order, order.empty() ? byStart : order,
            [&](int column) { return m_found->keys(static_cast<Field>(column), stop); }, stop);
    }

    [[nodiscard]] std::size_t size() const override { return m_order.size(); }
    [[nodiscard]] const std::vector<TableColumn>& columns() const override { return m_found->columns; }
    [[nodiscard]] TableValue value(std::size_t row, std::size_t column) const override
    {
        return sliceValue(m_found->context(), trace().slice(slice(row)), m_found->fields[column]);
    }
    [[nodiscard]] SliceId slice(std::size_t row) const override { return m_found->ids[m_order[row]]; }
    [[nodiscard]] SliceClass sliceClass(std::size_t row) const override
    {
        const Slice of = trace().slice(slice(row));
        return classify(of.kind, trace().name(of));
    }
    [[nodiscard]] std::optional<std::size_t> find(const Slice& of) const override
    {
        const auto found =
            std::find_if(m_order.begin(), m_order.end(), [&](std::uint32_t row) { return m_found->ids[row] == of.id; });
        return found == m_order.end() ? std::nullopt : std::optional{static_cast<std::size_t>(found - m_order.begin())};
    }
    [[nodiscard]] std::shared_ptr<const TableRows> sorted(const TableOrder& order,
                                                          const std::stop_token& stop) const override
    {
        auto rows = std::make_shared<SliceRows>(m_found);
        return rows->sort(order, stop) ? rows : nullptr;
    }
    [[nodiscard]] const Trace& trace() const override { return *m_found->trace; }

private:
    std::shared_ptr<const FoundSlices> m_found;
    std::vector<std::uint32_t> m_order; ///< positions in the found slices
};

/// Finds the fields that at least one slice has; empty columns are left out.
class FieldsSeen {
public:
    FieldsSeen(const FieldContext& context, std::vector<Field> all)
        : m_context(context), m_all(std::move(all)), m_looked(context.trace->stringCount())
    {
        for (const Field field : m_all)
            if (isOptional(field))
                (isOfName(field) ? m_unseenOfName : m_unseen).push_back(field);
    }
    void look(const Slice& slice)
    {
        const auto isSeen = [&](Field field) { return applies(m_context, slice, field); };
        std::erase_if(m_unseen, isSeen);
        // What a name tells is looked up once per name: it costs more than the rest of a row.
        if (m_unseenOfName.empty() || m_looked[slice.name.value])
            return;
        m_looked[slice.name.value] = true;
        std::erase_if(m_unseenOfName, isSeen);
    }
    [[nodiscard]] std::vector<Field> fields() const
    {
        std::vector<Field> seen = m_all;
        for (const auto* unseen : {&m_unseen, &m_unseenOfName})
            std::erase_if(
                seen, [&](Field field) { return std::find(unseen->begin(), unseen->end(), field) != unseen->end(); });
        return seen;
    }

private:
    static bool isOfName(Field field)
    {
        return field == Field::Class || field == Field::Precision || field == Field::TensorCores;
    }

    FieldContext m_context;
    std::vector<Field> m_all, m_unseen, m_unseenOfName;
    std::vector<bool> m_looked; ///< by StringId
};

} // namespace

std::shared_ptr<const TableRows> makeSliceRows(const std::shared_ptr<const Trace>& trace, const TableSubject& subject,
                                               const TableQuery& query,
                                               const std::shared_ptr<const OpDeviceTimes>& deviceTimes,
                                               const std::function<void(double)>& progress, const std::stop_token& stop)
{
    auto found = std::make_shared<FoundSlices>();
    found->trace = trace;
    found->steps = query.steps;
    found->deviceTimes = deviceTimes;
    FieldsSeen seen(found->context(), subject.sliceFields);
    const ScanProgress scanned(trace->sliceCount(), 0, 0.8, progress);
    if (!scan(found->context(), subject, query.filter, scanned, stop, [&](const Slice& slice) {
            found->ids.push_back(slice.id);
            seen.look(slice);
        }))
        return nullptr;
    found->fields = seen.fields();
    found->columns = columnsOf(found->fields, subject.extra);
    const auto rows = std::make_shared<SliceRows>(std::move(found));
    return rows->sort(query.order, stop) ? rows : nullptr;
}

} // namespace app
