#include "app/tables/table_query.h"

#include "app/document/step_parts.h"
#include "app/look/display_text.h"
#include "app/tables/slice_details.h"
#include "app/tables/table_scan.h"
#include "profiler/analysis/slice_queries.h"

#include <QCoreApplication>
#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

namespace app {

using profiler::ActivityKind;
using profiler::Slice;
using profiler::SliceId;
using profiler::Trace;
using profiler::analysis::OpDeviceTimes;
using profiler::analysis::SliceView;
using profiler::analysis::Step;

namespace {

QString text(const char* source)
{
    return QCoreApplication::translate("TableQuery", source);
}

} // namespace

TableSubject kernelSubject()
{
    return {"kernels",
            text("Kernels"),
            text("No kernels in this trace. Nothing ran on a GPU, or GPU activity was not recorded."),
            kindBits({ActivityKind::Kernel}),
            {Field::Name, Field::Begin, Field::Duration, Field::Class, Field::Precision, Field::TensorCores,
             Field::Grid, Field::Block, Field::Registers, Field::SharedMemory, Field::Occupancy, Field::Track,
             Field::Step, Field::Correlation, Field::Gpu, Field::Stream},
            {Field::Name, Field::Count, Field::Total, Field::Share, Field::Class, Field::Precision, Field::TensorCores,
             Field::ShareOfSteps, Field::Mean, Field::Median, Field::Shortest, Field::Longest, Field::Grid,
             Field::Block, Field::Registers, Field::SharedMemory, Field::Occupancy},
            {Field::ShareOfSteps, Field::Median, Field::Shortest, Field::Correlation, Field::Gpu, Field::Stream},
            {{Field::Name},
             {Field::Class},
             {Field::Precision},
             {Field::TensorCores},
             {Field::Track},
             {Field::Step},
             {Field::Class, Field::Step}}};
}

TableSubject opSubject()
{
    return {"ops",
            text("Ops"),
            text("No operators in this trace. They were not recorded."),
            kindBits({ActivityKind::CpuOp}),
            {Field::Name, Field::Begin, Field::Duration, Field::DeviceTime, Field::DeviceSelf, Field::Track,
             Field::Step, Field::Shapes, Field::Types, Field::Sequence},
            {Field::Name, Field::Count, Field::Self, Field::Total, Field::Share, Field::DeviceSelf, Field::DeviceTime,
             Field::Mean, Field::ShareOfSteps, Field::Median, Field::Shortest, Field::Longest},
            {Field::ShareOfSteps, Field::Shortest, Field::Sequence},
            {{Field::Name}, {Field::Name, Field::Shapes}, {Field::Track}, {Field::Step}, {Field::Name, Field::Track}}};
}

TableSubject copySubject()
{
    return {"copies",
            text("Copies"),
            text("No GPU copies in this trace."),
            kindBits({ActivityKind::GpuMemcpy}),
            {Field::Name, Field::Begin, Field::Duration, Field::Bytes, Field::Rate, Field::Direction, Field::Source,
             Field::Destination, Field::Track, Field::Step, Field::Correlation, Field::Gpu, Field::Stream},
            {Field::Name, Field::Count, Field::Total, Field::Bytes, Field::Rate, Field::Share, Field::ShareOfSteps,
             Field::Mean, Field::Median, Field::Shortest, Field::Longest},
            {Field::Correlation, Field::Gpu, Field::Stream},
            {{Field::Name}, {Field::Direction}, {Field::Source, Field::Destination}, {Field::Track}, {Field::Step}}};
}

TableSubject memsetSubject()
{
    return {"memsets",
            text("Memset"),
            text("No GPU memsets in this trace."),
            kindBits({ActivityKind::GpuMemset}),
            {Field::Name, Field::Begin, Field::Duration, Field::Bytes, Field::Rate, Field::Track, Field::Step,
             Field::Correlation, Field::Gpu, Field::Stream},
            {Field::Name, Field::Count, Field::Total, Field::Bytes, Field::Rate, Field::Share, Field::ShareOfSteps,
             Field::Mean, Field::Median, Field::Shortest, Field::Longest},
            {Field::Correlation, Field::Gpu, Field::Stream},
            {{Field::Name}, {Field::Track}, {Field::Step}}};
}

TableSubject runtimeSubject()
{
    return {"runtime",
            text("Runtime"),
            text("No CUDA calls in this trace. Nothing used a GPU, or the calls were not recorded."),
            kindBits({ActivityKind::CudaRuntime, ActivityKind::CudaDriver, ActivityKind::Sync}),
            {Field::Name, Field::Kind, Field::Begin, Field::Duration, Field::Track, Field::Step, Field::Correlation},
            {Field::Name, Field::Kind, Field::Count, Field::Self, Field::Total, Field::Share, Field::ShareOfSteps,
             Field::Mean, Field::Median, Field::Shortest, Field::Longest},
            {},
            {{Field::Name}, {Field::Kind}, {Field::Track}, {Field::Step}}};
}

TableSubject rangeSubject()
{
    return {"nvtx",
            text("NVTX"),
            text("No NVTX ranges or annotations in this trace."),
            kindBits({ActivityKind::Nvtx, ActivityKind::UserAnnotation, ActivityKind::GpuUserAnnotation}),
            {Field::Name, Field::Kind, Field::Begin, Field::Duration, Field::Track, Field::Step},
            {Field::Name, Field::Kind, Field::Count, Field::Self, Field::Total, Field::Share, Field::ShareOfSteps,
             Field::Mean, Field::Median, Field::Shortest, Field::Longest},
            {},
            {{Field::Name}, {Field::Kind}, {Field::Track}, {Field::Step}}};
}

TableSubject stepSubject()
{
    return {"steps", text("Steps"), text("No steps in this trace."), 0, {}, {}, {}};
}

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

namespace {

// Tables with one row per slice.

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
        // The properties that a name implies are looked up once per name: this costs more than the rest of a row.
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

// The table of steps.

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

/// One row per step: start, duration, and the time of its parts. Parts that occur in no step are left out.
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

std::vector<FilterField> filterFields(bool grouped)
{
    std::vector<FilterField> fields;
    for (int i = 0; i < kFields; ++i) {
        const auto field = static_cast<Field>(i);
        if (grouped || !isOfGroup(field))
            fields.push_back({i, QString::fromLatin1(fieldInfo(field).keyword), fieldInfo(field).unit});
    }
    return fields;
}

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

std::vector<FilterField> filterFieldsOf(const TableSubject& subject, const TableGrouping& grouping)
{
    return subject.hasNames() ? filterFields(!grouping.empty()) : stepFilterFields();
}

} // namespace app
