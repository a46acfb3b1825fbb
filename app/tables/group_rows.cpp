#include "app/look/qstring.h"
#include "app/tables/slice_details.h"
#include "app/tables/table_scan.h"
#include "profiler/analysis/device/occupancy.h"

#include <QCoreApplication>
#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <unordered_map>

// Tables with one row per name.
namespace app {

using profiler::Nanoseconds;
using profiler::Slice;
using profiler::SliceId;
using profiler::Trace;

namespace {

constexpr std::array kSharedFields = {Field::Grid, Field::Block, Field::Registers, Field::SharedMemory};

/// The launches of one name.
struct Launches {
    profiler::LaunchId first{};
    std::uint8_t differ = 0; ///< one bit for each of kSharedFields: some launches have another value than the first
    double occupied = 0;     ///< sum of occupancy × duration in ns
    Nanoseconds duration{};  ///< of the slices whose occupancy is known

    void add(const Trace& trace, const Slice& slice, bool isFirst)
    {
        const profiler::LaunchId launch = slice.args.launch;
        if (isFirst)
            first = launch;
        for (std::size_t i = 0; launch != first && i < kSharedFields.size(); ++i)
            if (launchValue(trace.launch(launch), kSharedFields[i]) !=
                launchValue(trace.launch(first), kSharedFields[i]))
                differ = static_cast<std::uint8_t>(differ | 1U << i);
        if (const auto occupancy = profiler::analysis::occupancyOf(trace, slice)) {
            occupied += occupancy->share() * static_cast<double>(slice.duration.count());
            duration += slice.duration;
        }
    }
    /// Empty if it is unknown or differs between the launches.
    [[nodiscard]] TableValue value(const Trace& trace, Field field) const
    {
        if (field == Field::Occupancy)
            return duration.count() > 0 ? TableValue::ofShare(occupied / static_cast<double>(duration.count()))
                                        : TableValue();
        const auto at = std::find(kSharedFields.begin(), kSharedFields.end(), field) - kSharedFields.begin();
        return (differ >> at & 1) != 0 ? TableValue() : launchValue(trace.launch(first), field);
    }
};

/// All slices of one name and kind.
struct NameGroup {
    profiler::StringId name;
    profiler::ActivityKind kind{};
    std::int64_t count = 0, bytes = 0;
    Nanoseconds total{}, own{}, inSteps{}, shortest{Nanoseconds::max()}, longest{-1}, median{};
    SliceId longestSlice{};
    Launches launches{};
};

struct Groups {
    std::vector<NameGroup> all;
    Nanoseconds total{}, steps{}; ///< totals of all groups and of all steps
};

std::uint64_t groupKey(profiler::StringId name, profiler::ActivityKind kind)
{
    return std::uint64_t{name.value} << 8 | static_cast<std::uint64_t>(kind);
}

class GroupRows : public TableRows {
public:
    GroupRows(std::shared_ptr<const Trace> trace, std::vector<Field> fields, std::shared_ptr<const Groups> groups)
        : m_trace(std::move(trace)), m_fields(std::move(fields)), m_columns(columnsOf(m_fields)),
          m_groups(std::move(groups)), m_order(m_groups->all.size())
    {
        std::iota(m_order.begin(), m_order.end(), 0U);
    }

    void sort(TableOrder order)
    {
        const bool natural = order.column < 0;
        const Field field = natural ? mostTime() : static_cast<Field>(order.column);
        const bool descending = natural || order.descending;
        std::vector<TableValue> keys(m_groups->all.size());
        std::transform(m_groups->all.begin(), m_groups->all.end(), keys.begin(),
                       [&](const NameGroup& group) { return valueOf(group, field); });
        std::sort(m_order.begin(), m_order.end(), [&](std::uint32_t a, std::uint32_t b) {
            if (comesBefore(keys[a], keys[b]) || comesBefore(keys[b], keys[a]))
                return comesBefore(keys[a], keys[b]) != descending;
            return a < b;
        });
    }

    [[nodiscard]] std::shared_ptr<GroupRows> copyOf() const { return std::make_shared<GroupRows>(*this); }

    [[nodiscard]] std::size_t size() const override { return m_order.size(); }
    [[nodiscard]] const std::vector<TableColumn>& columns() const override { return m_columns; }
    [[nodiscard]] TableValue value(std::size_t row, std::size_t column) const override
    {
        return valueOf(group(row), m_fields[column]);
    }
    [[nodiscard]] SliceId slice(std::size_t row) const override { return group(row).longestSlice; }
    [[nodiscard]] SliceClass sliceClass(std::size_t row) const override
    {
        return classify(group(row).kind, m_trace->string(group(row).name));
    }
    [[nodiscard]] std::optional<std::size_t> find(const Slice& slice) const override
    {
        for (std::size_t row = 0; row < size(); ++row)
            if (group(row).name == slice.name && group(row).kind == slice.kind)
                return row;
        return std::nullopt;
    }
    [[nodiscard]] const Trace& trace() const override { return *m_trace; }

private:
    [[nodiscard]] Field mostTime() const
    {
        return std::find(m_fields.begin(), m_fields.end(), Field::Self) == m_fields.end() ? Field::Total : Field::Self;
    }
    [[nodiscard]] const NameGroup& group(std::size_t row) const { return m_groups->all[m_order[row]]; }
    [[nodiscard]] TableValue valueOf(const NameGroup& group, Field field) const;

    std::shared_ptr<const Trace> m_trace;
    std::vector<Field> m_fields;
    std::vector<TableColumn> m_columns;
    std::shared_ptr<const Groups> m_groups;
    std::vector<std::uint32_t> m_order;
};

TableValue shareOf(Nanoseconds part, Nanoseconds whole)
{
    if (whole.count() <= 0)
        return {};
    return TableValue::ofShare(static_cast<double>(part.count()) / static_cast<double>(whole.count()));
}

TableValue GroupRows::valueOf(const NameGroup& group, Field field) const
{
    switch (field) {
    case Field::Name: {
        const QString name = asQString(m_trace->string(group.name));
        return TableValue::ofText(name.isEmpty() ? QCoreApplication::translate("SliceDetails", "(no name)") : name);
    }
    case Field::Kind:
        return TableValue::ofText(asQString(activityName(group.kind)));
    case Field::Count:
        return TableValue::ofCount(group.count);
    case Field::Total:
        return TableValue::ofTime(group.total);
    case Field::Self:
        return TableValue::ofTime(group.own);
    case Field::Mean:
        return TableValue::ofTime(group.total / group.count);
    case Field::Median:
        return TableValue::ofTime(group.median);
    case Field::Shortest:
        return TableValue::ofTime(group.shortest);
    case Field::Longest:
        return TableValue::ofTime(group.longest);
    case Field::Share:
        return shareOf(group.total, m_groups->total);
    case Field::ShareOfSteps:
        return shareOf(group.inSteps, m_groups->steps);
    case Field::Bytes:
        return group.bytes > 0 ? TableValue::ofBytes(group.bytes) : TableValue();
    case Field::Rate:
        if (const auto rate = bytesPerSecond(group.bytes, group.total))
            return TableValue::ofRate(*rate);
        return {};
    case Field::Grid:
    case Field::Block:
    case Field::Registers:
    case Field::SharedMemory:
    case Field::Occupancy:
        return group.launches.value(*m_trace, field);
    default:
        return {};
    }
}

/// Gathers groups slice by slice.
class Grouping {
public:
    Grouping(const Trace& trace, const Steps& steps) : m_trace(&trace), m_steps(&steps) {}

    void add(const Slice& slice)
    {
        const auto [found, isNew] = m_index.try_emplace(groupKey(slice.name, slice.kind), groups.all.size());
        if (isNew)
            groups.all.push_back({slice.name, slice.kind});
        NameGroup& group = groups.all[found->second];
        ++group.count;
        group.bytes += slice.args.bytes;
        if (m_trace->launchCount() > 0)
            group.launches.add(*m_trace, slice, isNew);
        group.total += slice.duration;
        group.own += slice.duration;
        group.shortest = std::min(group.shortest, slice.duration);
        if (slice.duration > group.longest) {
            group.longest = slice.duration;
            group.longestSlice = slice.id;
        }
        if (stepAt(*m_steps, slice.begin))
            group.inSteps += slice.duration;
        m_groupOf.push_back(static_cast<std::uint32_t>(found->second));
        m_durations.push_back(slice.duration.count());
    }

    /// Subtracts the time of nested slices from the self time of their parent's group.
    void cover(std::uint64_t key, Nanoseconds by)
    {
        if (const auto found = m_index.find(key); found != m_index.end())
            groups.all[found->second].own -= by;
    }

    void finish()
    {
        for (const profiler::analysis::Step& step : *m_steps)
            groups.steps += step.range.duration();
        std::vector<std::size_t> begins(groups.all.size() + 1);
        for (std::size_t i = 0; i < groups.all.size(); ++i) {
            groups.total += groups.all[i].total;
            begins[i + 1] = begins[i] + static_cast<std::size_t>(groups.all[i].count);
        }
        std::vector<std::int64_t> sorted(m_durations.size());
        std::vector<std::size_t> next(begins.begin(), begins.end() - 1);
        for (std::size_t i = 0; i < m_durations.size(); ++i)
            sorted[next[m_groupOf[i]]++] = m_durations[i];
        for (std::size_t i = 0; i < groups.all.size(); ++i)
            groups.all[i].median = medianOf({sorted.data() + begins[i], sorted.data() + begins[i + 1]});
    }

    Groups groups;

private:
    static Nanoseconds medianOf(std::span<std::int64_t> ns)
    {
        const auto middle = ns.begin() + static_cast<std::ptrdiff_t>(ns.size() / 2);
        std::nth_element(ns.begin(), middle, ns.end());
        if (ns.size() % 2 == 1)
            return Nanoseconds{*middle};
        const std::int64_t below = *std::max_element(ns.begin(), middle);
        return Nanoseconds{below + (*middle - below) / 2};
    }

    const Trace* m_trace;
    const Steps* m_steps;
    std::unordered_map<std::uint64_t, std::size_t> m_index;
    std::vector<std::uint32_t> m_groupOf; ///< group of each slice, in scan order
    std::vector<std::int64_t> m_durations;
};

/// The fields of a slice that are needed to find its children.
struct Span {
    std::int64_t begin, end;
    std::uint64_t group;
    std::uint8_t depth;
    bool counts; ///< true if the table contains the slice
};

/// Slices of a track, parents before children; empty if none belongs to the table.
std::vector<Span> spansOf(const Trace& trace, profiler::TrackId track, const TableSubject& subject,
                          const std::optional<profiler::TimeRange>& range, const std::stop_token& stop)
{
    const profiler::TimeRange all{trace.range().begin, trace.range().end + Nanoseconds{1}};
    std::vector<Span> spans;
    bool any = false;
    trace.forEach(track, all, [&](const Slice& slice) {
        const bool counts = subject.holds(slice.kind) && (!range || slice.range().overlaps(*range));
        any = any || counts;
        spans.push_back({toNs(slice.begin), toNs(slice.end()), groupKey(slice.name, slice.kind), slice.depth, counts});
        return !stop.stop_requested();
    });
    if (!any || stop.stop_requested())
        return {};
    const auto before = [](const Span& a, const Span& b) {
        return std::tuple(a.begin, a.depth, b.end) < std::tuple(b.begin, b.depth, a.end);
    };
    if (!std::is_sorted(spans.begin(), spans.end(), before))
        std::sort(spans.begin(), spans.end(), before);
    return spans;
}

/// Subtracts from each group the time of direct children on one track.
void takeCovered(const std::vector<Span>& spans, Grouping& grouping)
{
    std::vector<const Span*> around;
    for (const Span& span : spans) {
        while (!around.empty() && (around.back()->depth >= span.depth || around.back()->end <= span.begin))
            around.pop_back();
        if (!around.empty() && around.back()->counts)
            grouping.cover(around.back()->group, Nanoseconds{std::min(span.end, around.back()->end) - span.begin});
        around.push_back(&span);
    }
}

} // namespace

std::shared_ptr<const TableRows> makeGroupRows(const std::shared_ptr<const Trace>& trace, const TableSubject& subject,
                                               const TableQuery& query, const std::function<void(double)>& progress,
                                               const std::stop_token& stop)
{
    Grouping grouping(*trace, *query.steps);
    const ScanProgress scanned(trace->sliceCount(), 0, 0.6, progress);
    if (!scan(*trace, subject, query.filter, scanned, stop, [&](const Slice& slice) { grouping.add(slice); }))
        return nullptr;
    auto fields = subject.groupFields;
    if (std::find(fields.begin(), fields.end(), Field::Self) != fields.end())
        for (const profiler::Track& track : trace->tracks())
            takeCovered(spansOf(*trace, track.id, subject, query.filter.range, stop), grouping);
    if (stop.stop_requested())
        return nullptr;
    grouping.finish();
    const auto& groups = grouping.groups;
    if (groups.steps.count() == 0)
        std::erase(fields, Field::ShareOfSteps);
    if (std::none_of(groups.all.begin(), groups.all.end(), [](const NameGroup& group) { return group.bytes > 0; }))
        std::erase_if(fields, [](Field field) { return field == Field::Bytes || field == Field::Rate; });
    std::erase_if(fields, [&](Field field) {
        return isOfLaunch(field) && std::all_of(groups.all.begin(), groups.all.end(), [&](const NameGroup& group) {
                   return group.launches.value(*trace, field).unit == TableValue::Unit::None;
               });
    });
    auto rows = std::make_shared<GroupRows>(trace, std::move(fields),
                                            std::make_shared<const Groups>(std::move(grouping.groups)));
    rows->sort(query.order);
    return rows;
}

std::shared_ptr<const TableRows> reordered(const std::shared_ptr<const TableRows>& groups, TableOrder order)
{
    const auto* rows = dynamic_cast<const GroupRows*>(groups.get());
    if (!rows)
        return nullptr;
    auto copy = rows->copyOf();
    copy->sort(order);
    return copy;
}

} // namespace app
