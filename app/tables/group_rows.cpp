#include "app/look/display_text.h"
#include "app/tables/slice_details.h"
#include "app/tables/table_scan.h"
#include "profiler/analysis/device/occupancy.h"

#include <QCoreApplication>
#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <span>
#include <unordered_map>

// Tables with one row per group of slices, such as one per name.
namespace app {

using profiler::Nanoseconds;
using profiler::Slice;
using profiler::SliceId;
using profiler::Trace;
using profiler::analysis::OpDeviceTimes;

namespace {

constexpr std::array kSharedFields = {Field::Grid, Field::Block, Field::Registers, Field::SharedMemory};

/// The launches of one group.
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

/// All slices whose grouping fields are equal.
struct SliceGroup {
    std::int64_t count = 0, bytes = 0;
    Nanoseconds total{}, own{}, inSteps{}, shortest{Nanoseconds::max()}, longest{-1}, median{};
    OpDeviceTimes::Times device{};
    SliceId longestSlice{};
    Launches launches{};
};

using GroupKey = std::vector<std::int64_t>;
struct GroupKeyHash {
    std::size_t operator()(const GroupKey& key) const
    {
        std::uint64_t hash = 0;
        for (const std::int64_t part : key)
            hash = (hash ^ static_cast<std::uint64_t>(part)) * 0x9e3779b97f4a7c15;
        return hash ^ hash >> 32;
    }
};

/// The keys of the grouping fields of slices. A name used for several kinds makes several groups.
class GroupKeys {
public:
    GroupKeys(const FieldContext& context, TableGrouping grouping)
    {
        if (std::find(grouping.begin(), grouping.end(), Field::Name) != grouping.end())
            grouping.push_back(Field::Kind);
        for (const Field field : grouping)
            m_keys.emplace_back(context, field);
        m_key.resize(m_keys.size());
    }
    const GroupKey& operator()(const Slice& slice)
    {
        for (std::size_t i = 0; i < m_keys.size(); ++i)
            m_key[i] = m_keys[i](slice);
        return m_key;
    }

private:
    std::vector<SliceKey> m_keys;
    GroupKey m_key; ///< of the last slice
};

struct Groups {
    std::shared_ptr<const Trace> trace;
    std::shared_ptr<const Steps> stepList;
    std::uint32_t kinds = 0;
    TableGrouping grouping;
    std::vector<Field> fields;
    std::vector<TableColumn> columns;
    std::vector<SliceGroup> all;
    Nanoseconds total{}, steps{}; ///< totals of all groups and of all steps

    [[nodiscard]] FieldContext context() const { return {trace.get(), stepList.get()}; }
    [[nodiscard]] Slice longest(const SliceGroup& group) const { return trace->slice(group.longestSlice); }
    [[nodiscard]] TableValue value(const SliceGroup& group, Field field) const;
};

class GroupRows : public TableRows {
public:
    explicit GroupRows(std::shared_ptr<const Groups> groups)
        : m_groups(std::move(groups)), m_order(m_groups->all.size())
    {
        std::iota(m_order.begin(), m_order.end(), 0U);
    }

    bool sort(const TableOrder& order, const std::stop_token& stop)
    {
        const TableOrder mostTimeFirst{{static_cast<int>(mostTime()), true}};
        return sortRows(
            m_order, order.empty() ? mostTimeFirst : order,
            [&](int column) { return ranks(static_cast<Field>(column)); }, stop);
    }

    [[nodiscard]] std::size_t size() const override { return m_order.size(); }
    [[nodiscard]] const std::vector<TableColumn>& columns() const override { return m_groups->columns; }
    [[nodiscard]] TableValue value(std::size_t row, std::size_t column) const override
    {
        return m_groups->value(group(row), m_groups->fields[column]);
    }
    [[nodiscard]] SliceId slice(std::size_t row) const override { return group(row).longestSlice; }
    [[nodiscard]] SliceClass sliceClass(std::size_t row) const override
    {
        const Slice longest = m_groups->longest(group(row));
        return classify(longest.kind, trace().name(longest));
    }
    [[nodiscard]] std::optional<std::size_t> find(const Slice& of) const override
    {
        if ((m_groups->kinds >> static_cast<int>(of.kind) & 1) == 0)
            return std::nullopt;
        GroupKeys keys(m_groups->context(), m_groups->grouping);
        const GroupKey wanted = keys(of);
        for (std::size_t row = 0; row < size(); ++row)
            if (keys(m_groups->longest(group(row))) == wanted)
                return row;
        return std::nullopt;
    }
    [[nodiscard]] QString filterTerms(std::size_t row) const override
    {
        const std::vector<FilterField> fields = filterFields(false);
        QStringList terms;
        for (const Field field : m_groups->grouping) {
            const Slice longest = m_groups->longest(group(row));
            const TableValue value = field == Field::Name ? TableValue::ofText(asQString(trace().name(longest)))
                                                          : sliceValue(m_groups->context(), longest, field);
            terms << filterTerm(fields[static_cast<std::size_t>(field)], value);
        }
        return terms.join(u' ');
    }
    [[nodiscard]] std::shared_ptr<const TableRows> sorted(const TableOrder& order,
                                                          const std::stop_token& stop) const override
    {
        auto rows = std::make_shared<GroupRows>(m_groups);
        return rows->sort(order, stop) ? rows : nullptr;
    }
    [[nodiscard]] const Trace& trace() const override { return *m_groups->trace; }

private:
    [[nodiscard]] Field mostTime() const
    {
        const auto& fields = m_groups->fields;
        return std::find(fields.begin(), fields.end(), Field::Self) == fields.end() ? Field::Total : Field::Self;
    }
    [[nodiscard]] const SliceGroup& group(std::size_t row) const { return m_groups->all[m_order[row]]; }

    /// The ranks of the groups in ascending order; equal cells have the same.
    [[nodiscard]] std::vector<std::int64_t> ranks(Field field) const
    {
        const auto& all = m_groups->all;
        std::vector<TableValue> values(all.size());
        std::transform(all.begin(), all.end(), values.begin(),
                       [&](const SliceGroup& group) { return m_groups->value(group, field); });
        std::vector<std::uint32_t> rows(all.size());
        std::iota(rows.begin(), rows.end(), 0U);
        std::sort(rows.begin(), rows.end(),
                  [&](std::uint32_t a, std::uint32_t b) { return comesBefore(values[a], values[b]); });
        std::vector<std::int64_t> ranks(all.size());
        std::int64_t rank = 0;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (i > 0 && comesBefore(values[rows[i - 1]], values[rows[i]]))
                ++rank;
            ranks[rows[i]] = rank;
        }
        return ranks;
    }

    std::shared_ptr<const Groups> m_groups;
    std::vector<std::uint32_t> m_order;
};

TableValue shareOf(Nanoseconds part, Nanoseconds whole)
{
    if (whole.count() <= 0)
        return {};
    return TableValue::ofShare(static_cast<double>(part.count()) / static_cast<double>(whole.count()));
}

TableValue Groups::value(const SliceGroup& group, Field field) const
{
    const auto timeIfAny = [](Nanoseconds time) { return time.count() > 0 ? TableValue::ofTime(time) : TableValue(); };
    switch (field) {
    case Field::Name: {
        const QString name = asQString(trace->name(longest(group)));
        return TableValue::ofName(name.isEmpty() ? QCoreApplication::translate("SliceDetails", "(no name)") : name);
    }
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
        return shareOf(group.total, total);
    case Field::ShareOfSteps:
        return shareOf(group.inSteps, steps);
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
        return group.launches.value(*trace, field);
    case Field::DeviceTime:
        return timeIfAny(group.device.total);
    case Field::DeviceSelf:
        return timeIfAny(group.device.self);
    default:
        return sliceValue(context(), longest(group), field);
    }
}

/// Gathers groups slice by slice.
class Grouping {
public:
    Grouping(const std::shared_ptr<const Trace>& trace, const TableQuery& query,
             const std::shared_ptr<const OpDeviceTimes>& deviceTimes)
        : m_trace(*trace), m_deviceTimes(deviceTimes.get()), m_keys({trace.get(), query.steps.get()}, query.grouping)
    {
        groups.trace = trace;
        groups.stepList = query.steps;
        groups.grouping = query.grouping;
    }

    void add(const Slice& slice)
    {
        const auto [found, isNew] = m_index.try_emplace(m_keys(slice), groups.all.size());
        if (isNew)
            groups.all.emplace_back();
        SliceGroup& group = groups.all[found->second];
        ++group.count;
        group.bytes += slice.args.bytes;
        if (m_trace.launchCount() > 0)
            group.launches.add(m_trace, slice, isNew);
        group.total += slice.duration;
        group.own += slice.duration;
        group.shortest = std::min(group.shortest, slice.duration);
        if (slice.duration > group.longest) {
            group.longest = slice.duration;
            group.longestSlice = slice.id;
        }
        if (stepAt(*groups.stepList, slice.begin))
            group.inSteps += slice.duration;
        if (const auto device = m_deviceTimes ? m_deviceTimes->find(slice.id) : std::nullopt) {
            group.device.total += device->total;
            group.device.self += device->self;
        }
        m_groupOf.push_back(static_cast<std::uint32_t>(found->second));
        m_durations.push_back(slice.duration.count());
    }

    static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
    /// The group of a slice; kNone if it has none.
    std::uint32_t groupOf(const Slice& slice)
    {
        const auto found = m_index.find(m_keys(slice));
        return found == m_index.end() ? kNone : static_cast<std::uint32_t>(found->second);
    }

    /// Subtracts the time of nested slices from the self time of their parent's group.
    void cover(std::uint32_t group, Nanoseconds by) { groups.all[group].own -= by; }

    void finish()
    {
        for (const profiler::analysis::Step& step : *groups.stepList)
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

    const Trace& m_trace;
    const OpDeviceTimes* m_deviceTimes;
    GroupKeys m_keys;
    std::unordered_map<GroupKey, std::size_t, GroupKeyHash> m_index;
    std::vector<std::uint32_t> m_groupOf; ///< group of each slice, in scan order
    std::vector<std::int64_t> m_durations;
};

/// The fields of a slice that are needed to find its children.
struct Span {
    std::int64_t begin, end;
    std::uint32_t group; ///< kNone: the table does not contain the slice
    std::uint8_t depth;
};

/// Slices of a track, parents before children; empty if none belongs to the table.
/// @param contains  whether the table contains a slice
template <class Contains>
std::vector<Span> spansOf(const Trace& trace, profiler::TrackId track, Grouping& grouping, Contains&& contains,
                          const std::stop_token& stop)
{
    const profiler::TimeRange all{trace.range().begin, trace.range().end + Nanoseconds{1}};
    std::vector<Span> spans;
    bool any = false;
    trace.forEach(track, all, [&](const Slice& slice) {
        const std::uint32_t group = contains(slice) ? grouping.groupOf(slice) : Grouping::kNone;
        any = any || group != Grouping::kNone;
        spans.push_back({toNs(slice.begin), toNs(slice.end()), group, slice.depth});
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
        if (!around.empty() && around.back()->group != Grouping::kNone)
            grouping.cover(around.back()->group, Nanoseconds{std::min(span.end, around.back()->end) - span.begin});
        around.push_back(&span);
    }
}

/// The columns of a table of groups: what its groups have in common, then their sums. Columns without any value are
/// left out.
std::vector<Field> fieldsOf(const TableSubject& subject, const Groups& groups)
{
    const auto isIn = [&](Field field) {
        return std::find(groups.grouping.begin(), groups.grouping.end(), field) != groups.grouping.end();
    };
    // These follow from the name.
    constexpr std::array kOfName = {Field::Name, Field::Kind, Field::Class, Field::Precision, Field::TensorCores};
    std::vector<Field> fields = groups.grouping;
    for (const Field field : subject.groupFields)
        if (!isIn(field) && (isIn(Field::Name) || std::find(kOfName.begin(), kOfName.end(), field) == kOfName.end()))
            fields.push_back(field);
    std::erase_if(fields, [&](Field field) {
        const bool mayBeEmpty = isOptional(field) && !isIn(field) && field != Field::Count;
        return mayBeEmpty && std::all_of(groups.all.begin(), groups.all.end(), [&](const SliceGroup& group) {
                   return groups.value(group, field).unit == TableValue::Unit::None;
               });
    });
    return fields;
}

/// Removes the groups that do not match the conditions about groups.
void filterGroups(Groups& groups, const Filter& filter)
{
    for (const FilterCondition& condition : filter)
        if (const auto field = static_cast<Field>(condition.field); isOfGroup(field))
            std::erase_if(groups.all,
                          [&](const SliceGroup& group) { return !condition.matches(groups.value(group, field)); });
}

} // namespace

std::shared_ptr<const TableRows> makeGroupRows(const std::shared_ptr<const Trace>& trace, const TableSubject& subject,
                                               const TableQuery& query,
                                               const std::shared_ptr<const OpDeviceTimes>& deviceTimes,
                                               const std::function<void(double)>& progress, const std::stop_token& stop)
{
    const FieldContext context{trace.get(), query.steps.get(), deviceTimes.get()};
    Grouping grouping(trace, query, deviceTimes);
    grouping.groups.kinds = subject.kinds;
    const ScanProgress scanned(trace->sliceCount(), 0, 0.6, progress);
    if (!scan(context, subject, query.filter, scanned, stop, [&](const Slice& slice) { grouping.add(slice); }))
        return nullptr;
    if (std::find(subject.groupFields.begin(), subject.groupFields.end(), Field::Self) != subject.groupFields.end()) {
        SliceMatcher matches(context, query.filter.conditions);
        const auto& range = query.filter.range;
        for (const profiler::Track& track : trace->tracks())
            takeCovered(spansOf(
                            *trace, track.id, grouping,
                            [&](const Slice& slice) {
                                return subject.holds(slice.kind) && (!range || slice.range().overlaps(*range)) &&
                                       matches(slice);
                            },
                            stop),
                        grouping);
    }
    if (stop.stop_requested())
        return nullptr;
    grouping.finish();
    auto groups = std::make_shared<Groups>(std::move(grouping.groups));
    filterGroups(*groups, query.filter.conditions);
    groups->fields = fieldsOf(subject, *groups);
    groups->columns = columnsOf(groups->fields, subject.extra);
    const auto rows = std::make_shared<GroupRows>(std::move(groups));
    return rows->sort(query.order, stop) ? rows : nullptr;
}

} // namespace app
