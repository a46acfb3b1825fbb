#include "profiler/analysis/device/kernel_class.h"
#include "profiler/analysis/device/occupancy.h"
#include "profiler/query/slice_scan.h"
#include "profiler/query/trace_tables.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>

namespace profiler::query {

namespace {

/// A comparison that a scan can use. It is passed from xBestIndex to xFilter as one character.
enum class Compare : char {
    Equal = '=',
    Less = '<',
    LessEqual = 'l',
    Greater = '>',
    GreaterEqual = 'g',
    Like = '~',
    Glob = '*'
};
constexpr char kSingle = '.', kMany = '#'; ///< the value is one value, or the list of an IN operator
constexpr char kFirstColumn = '0';         ///< character of column 0
constexpr char kOrder = ' '; ///< ends the conditions; then the order: "g" or "s", and a column with + or −

std::optional<Compare> compareOf(unsigned char operation)
{
    switch (operation) {
    case SQLITE_INDEX_CONSTRAINT_EQ:
        return Compare::Equal;
    case SQLITE_INDEX_CONSTRAINT_LT:
        return Compare::Less;
    case SQLITE_INDEX_CONSTRAINT_LE:
        return Compare::LessEqual;
    case SQLITE_INDEX_CONSTRAINT_GT:
        return Compare::Greater;
    case SQLITE_INDEX_CONSTRAINT_GE:
        return Compare::GreaterEqual;
    case SQLITE_INDEX_CONSTRAINT_LIKE:
        return Compare::Like;
    case SQLITE_INDEX_CONSTRAINT_GLOB:
        return Compare::Glob;
    default:
        return std::nullopt;
    }
}

bool isText(SliceColumn column)
{
    return column == SliceColumn::Name || column == SliceColumn::Kind;
}

/// True if a scan uses this comparison of the column.
bool isUsed(SliceColumn column, Compare compare)
{
    switch (column) {
    case SliceColumn::Name:
        return compare == Compare::Equal || compare == Compare::Like || compare == Compare::Glob;
    case SliceColumn::Id:
    case SliceColumn::Kind:
    case SliceColumn::Track:
    case SliceColumn::Parent:
    case SliceColumn::Correlation:
        return compare == Compare::Equal;
    case SliceColumn::Ts:
    case SliceColumn::Dur:
    case SliceColumn::TsEnd:
    case SliceColumn::Depth:
    case SliceColumn::Step:
        return compare != Compare::Like && compare != Compare::Glob;
    default:
        return false;
    }
}

/// Share of the rows that a condition keeps, for SQLite's choice of the order of joins. Guesses, except for unique ids.
double keptShare(SliceColumn column, Compare compare, double rows)
{
    switch (column) {
    case SliceColumn::Id:
        return 1 / rows;
    case SliceColumn::Correlation:
        return 2 / rows;
    case SliceColumn::Parent:
        return 10 / rows;
    case SliceColumn::Name:
        return 0.02;
    case SliceColumn::Kind:
        return 0.2;
    default:
        return compare == Compare::Equal ? 0.02 : 0.25;
    }
}

/// Conditions that a scan finds without looking at all slices.
bool isLookup(SliceColumn column)
{
    return column == SliceColumn::Id || column == SliceColumn::Correlation || column == SliceColumn::Parent;
}

bool isSortable(SliceColumn column)
{
    return column == SliceColumn::Name || column == SliceColumn::Kind || column == SliceColumn::Track ||
           column == SliceColumn::Depth || column == SliceColumn::Step;
}

struct Table : sqlite3_vtab {
    const Session* session = nullptr;
    bool canSort = false;
    std::vector<std::uint8_t> kernelClasses{}; ///< by string id: class + 1 of the names seen so far, otherwise 0

    /// Each name is classified once.
    std::string_view kernelClassName(std::uint32_t name)
    {
        if (kernelClasses.empty())
            kernelClasses.resize(session->trace().stringCount());
        std::uint8_t& known = kernelClasses[name];
        if (known == 0)
            known = static_cast<std::uint8_t>(
                1 + static_cast<int>(analysis::kernelClass(session->trace().string(StringId{name}))));
        return analysis::kernelClassName(static_cast<analysis::KernelClass>(known - 1));
    }
};

struct Cursor : sqlite3_vtab_cursor {
    std::optional<SliceScan> scan;
    std::optional<SortedSlices> sorted;
    bool isAtEnd = true;
    TrackId track;
    const TrackBlock* block = nullptr; ///< pinned by `scan` or `sorted`
    std::uint32_t position = 0;
    std::optional<Slice> decoded; ///< all arguments of the current slice, once a column needs them

    int advance()
    {
        decoded.reset();
        const auto take = [this](auto& from) {
            isAtEnd = !from.advance();
            if (isAtEnd)
                return;
            track = from.track();
            block = &*from.block();
            position = from.position();
        };
        if (sorted) {
            take(*sorted);
            return SQLITE_OK;
        }
        take(*scan);
        return scan->wasStopped() ? SQLITE_INTERRUPT : SQLITE_OK;
    }
};

int connectSlices(sqlite3* database, void* aux, int, const char* const*, sqlite3_vtab** table, char**)
{
    return guarded([&] {
        const int status = sqlite3_declare_vtab(database, declaration(sliceInfo()).c_str());
        if (status != SQLITE_OK)
            return status;
        sqlite3_vtab_config(database, SQLITE_VTAB_INNOCUOUS);
        auto made = std::make_unique<Table>();
        made->session = static_cast<const Session*>(aux);
        made->canSort = SortedSlices::canSort(made->session->trace());
        *table = made.release();
        return SQLITE_OK;
    });
}

int disconnectSlices(sqlite3_vtab* table)
{
    delete static_cast<Table*>(table);
    return SQLITE_OK;
}

/// The order that SQLite asks for, if a scan can deliver it; otherwise empty.
std::string orderText(const Table& table, sqlite3_index_info* info)
{
    if (!table.canSort || info->nOrderBy == 0)
        return {};
    const int distinct = sqlite3_vtab_distinct(info);
    const bool grouped = distinct == 1 || distinct == 2;
    std::string text{kOrder, grouped ? 'g' : 's'};
    for (int i = 0; i < info->nOrderBy; ++i) {
        const int column = info->aOrderBy[i].iColumn;
        if (column < 0 || !isSortable(static_cast<SliceColumn>(column)))
            return {};
        text += static_cast<char>(kFirstColumn + column);
        text += info->aOrderBy[i].desc ? '-' : '+';
    }
    return text;
}

int bestIndexOfSlices(sqlite3_vtab* base, sqlite3_index_info* info)
{
    return guarded([&] {
        const Table& table = *static_cast<Table*>(base);
        const double all = std::max(1.0, static_cast<double>(table.session->trace().sliceCount()));
        double rows = all;
        bool lookup = false;
        std::string plan;
        int arguments = 0;
        for (int i = 0; i < info->nConstraint; ++i) {
            const auto& constraint = info->aConstraint[i];
            const auto compare = compareOf(constraint.op);
            if (!constraint.usable || !compare)
                continue;
            const auto column = static_cast<SliceColumn>(std::max(constraint.iColumn, 0));
            if (!isUsed(column, *compare))
                continue;
            // A comparison with another collation has another meaning. (LIKE and GLOB have none.)
            const bool equalText = isText(column) && *compare == Compare::Equal;
            if (equalText && sqlite3_stricmp(sqlite3_vtab_collation(info, i), "BINARY") != 0)
                continue;
            const bool takesMany = column == SliceColumn::Id || column == SliceColumn::Track || equalText;
            const bool many = *compare == Compare::Equal && takesMany && sqlite3_vtab_in(info, i, -1) != 0;
            if (many)
                sqlite3_vtab_in(info, i, 1);
            info->aConstraintUsage[i].argvIndex = ++arguments;
            info->aConstraintUsage[i].omit = equalText && !many ? 1 : 0;
            plan += {static_cast<char>(kFirstColumn + static_cast<int>(column)), static_cast<char>(*compare),
                     many ? kMany : kSingle};
            rows *= keptShare(column, *compare, all);
            lookup = lookup || isLookup(column);
        }
        const std::string order = lookup ? std::string() : orderText(table, info);
        info->orderByConsumed = order.empty() ? 0 : 1;
        plan += order;
        info->idxStr = sqlite3_mprintf("%s", plan.c_str());
        info->needToFreeIdxStr = 1;
        info->estimatedRows = static_cast<sqlite3_int64>(std::max(rows, 1.0));
        // Most of the cost of a scan is in the rows that SQLite sees; rejecting a slice is about fifty times cheaper.
        constexpr double kRejected = 0.02;
        info->estimatedCost = std::max(rows, 1.0) + (lookup ? 10 : kRejected * all);
        return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
    });
}

int openSlices(sqlite3_vtab*, sqlite3_vtab_cursor** cursor)
{
    return guarded([&] {
        *cursor = new Cursor;
        return SQLITE_OK;
    });
}

int closeSlices(sqlite3_vtab_cursor* cursor)
{
    delete static_cast<Cursor*>(cursor);
    return SQLITE_OK;
}

/// The integers that fulfil a comparison with a value. All integers for a value of another type: SQLite checks every
/// row again.
Bounds boundsOf(Compare compare, sqlite3_value* value)
{
    Bounds bounds;
    std::int64_t least = 0, most = 0;
    switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER:
        least = most = sqlite3_value_int64(value);
        break;
    case SQLITE_FLOAT: {
        constexpr double kLimit = 9.2e18;
        const double number = sqlite3_value_double(value);
        if (!(std::abs(number) < kLimit))
            return bounds;
        least = static_cast<std::int64_t>(std::floor(number));
        most = static_cast<std::int64_t>(std::ceil(number));
        break;
    }
    default:
        return bounds;
    }
    if (compare == Compare::Equal || compare == Compare::Greater || compare == Compare::GreaterEqual)
        bounds.first = least;
    if (compare == Compare::Equal || compare == Compare::Less || compare == Compare::LessEqual)
        bounds.last = most;
    return bounds;
}

/// The value of an argument, or all values of an IN list.
std::vector<sqlite3_value*> valuesOf(sqlite3_value* argument, bool many)
{
    if (!many)
        return {argument};
    std::vector<sqlite3_value*> values;
    sqlite3_value* value = nullptr;
    for (int status = sqlite3_vtab_in_first(argument, &value); status == SQLITE_OK && value;
         status = sqlite3_vtab_in_next(argument, &value))
        values.push_back(sqlite3_value_dup(value));
    return values;
}

/// Turns the conditions of a query into those of a scan.
class FilterMaker {
public:
    explicit FilterMaker(const Session& session) : m_session(session) {}

    void add(SliceColumn column, Compare compare, sqlite3_value* argument, bool many)
    {
        const std::vector<sqlite3_value*> values = valuesOf(argument, many);
        take(column, compare, values);
        if (many)
            for (sqlite3_value* value : values)
                sqlite3_value_free(value);
    }
    SliceFilter made()
    {
        restrictToSteps();
        return std::move(m_filter);
    }

private:
    void take(SliceColumn column, Compare compare, const std::vector<sqlite3_value*>& values)
    {
        switch (column) {
        case SliceColumn::Name:
            return takeName(compare, values);
        case SliceColumn::Kind:
            return takeKind(values);
        case SliceColumn::Id:
            return takeIds(values);
        case SliceColumn::Track:
            return takeTracks(values);
        case SliceColumn::Ts:
            return m_filter.start.clip(boundsOf(compare, values.front()));
        case SliceColumn::TsEnd:
            return m_filter.end.clip(boundsOf(compare, values.front()));
        case SliceColumn::Dur:
            return m_filter.duration.clip(boundsOf(compare, values.front()));
        case SliceColumn::Depth:
            return m_filter.depth.clip(boundsOf(compare, values.front()));
        case SliceColumn::Step:
            return m_steps.clip(boundsOf(compare, values.front()));
        case SliceColumn::Parent:
            return takeParent(values.front());
        case SliceColumn::Correlation:
            return takeCorrelation(values.front());
        default:
            return;
        }
    }

    static std::string textOf(sqlite3_value* value)
    {
        const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(value));
        return text ? std::string(text, static_cast<std::size_t>(sqlite3_value_bytes(value))) : std::string();
    }
    /// A text, or a number, which SQLite compares as a text with a column of texts.
    static bool canEqualText(sqlite3_value* value)
    {
        const int type = sqlite3_value_type(value);
        return type != SQLITE_NULL && type != SQLITE_BLOB;
    }

    void takeName(Compare compare, const std::vector<sqlite3_value*>& values)
    {
        const Trace& trace = m_session.trace();
        if (compare != Compare::Equal) {
            if (sqlite3_value_type(values.front()) == SQLITE_TEXT)
                m_filter.names.addPattern(
                    trace, compare == Compare::Like ? NameConditions::Pattern::Like : NameConditions::Pattern::Glob,
                    textOf(values.front()));
            return;
        }
        std::vector<StringId> names;
        for (sqlite3_value* value : values)
            if (const auto name = canEqualText(value) ? trace.findString(textOf(value)) : std::nullopt)
                names.push_back(*name);
        if (names.empty())
            m_filter.isEmpty = true;
        else if (names.size() == 1)
            m_filter.names.restrictTo(names.front());
        else
            m_filter.names.restrictTo(trace, names);
    }

    void takeKind(const std::vector<sqlite3_value*>& values)
    {
        std::uint32_t kinds = 0;
        for (sqlite3_value* value : values)
            if (canEqualText(value)) {
                const std::string text = textOf(value);
                for (int kind = 0; kind < kActivityKinds; ++kind)
                    if (activityName(static_cast<ActivityKind>(kind)) == text)
                        kinds |= 1U << kind;
            }
        m_filter.kinds &= kinds;
        m_filter.isEmpty = m_filter.isEmpty || m_filter.kinds == 0;
    }

    /// Restricts the scan to slices of a list. A second list is left to SQLite.
    void restrictTo(std::vector<SliceId> ids)
    {
        if (!m_filter.ids)
            m_filter.ids = std::move(ids);
    }

    /// The integer that equals a value, as SQLite compares it with a column of integers.
    static std::optional<std::int64_t> integerOf(sqlite3_value* value)
    {
        const int type = sqlite3_value_numeric_type(value);
        const std::int64_t integer = sqlite3_value_int64(value);
        if (type == SQLITE_INTEGER ||
            (type == SQLITE_FLOAT && static_cast<double>(integer) == sqlite3_value_double(value)))
            return integer;
        return std::nullopt;
    }

    void takeIds(const std::vector<sqlite3_value*>& values)
    {
        std::vector<SliceId> ids;
        for (sqlite3_value* value : values)
            if (const auto key = integerOf(value))
                if (const auto id = sliceOfKey(m_session.trace(), *key))
                    ids.push_back(*id);
        restrictTo(std::move(ids));
    }

    void takeTracks(const std::vector<sqlite3_value*>& values)
    {
        std::vector<TrackId> tracks;
        for (sqlite3_value* value : values) {
            const std::int64_t number = integerOf(value).value_or(-1);
            if (number >= 0 && number < std::ssize(m_session.trace().tracks()))
                tracks.push_back(TrackId{static_cast<std::uint32_t>(number)});
        }
        if (!m_filter.tracks)
            m_filter.tracks = std::move(tracks);
    }

    void restrictToSteps()
    {
        if (m_steps.isAll())
            return;
        std::vector<Bounds> windows;
        for (const analysis::Step& step : m_session.source.steps)
            if (m_steps.contains(step.index) && !step.range.empty())
                windows.push_back({toNs(step.range.begin), toNs(step.range.end) - 1});
        std::sort(windows.begin(), windows.end(), [](const Bounds& a, const Bounds& b) { return a.first < b.first; });
        std::vector<Bounds> merged;
        for (const Bounds& window : windows) {
            if (!merged.empty() && window.first <= merged.back().last)
                merged.back().last = std::max(merged.back().last, window.last);
            else
                merged.push_back(window);
        }
        m_filter.windows = std::move(merged);
    }

    void takeParent(sqlite3_value* value)
    {
        const auto key = integerOf(value);
        const auto id = key ? sliceOfKey(m_session.trace(), *key) : std::nullopt;
        if (!id) {
            m_filter.isEmpty = true;
            return;
        }
        const Slice parent = m_session.trace().slice(*id);
        if (!m_filter.tracks)
            m_filter.tracks = std::vector{id->track};
        m_filter.start.clip({toNs(parent.begin), toNs(parent.end())});
        m_filter.depth.clip({parent.depth + 1, parent.depth + 1});
    }

    void takeCorrelation(sqlite3_value* value)
    {
        std::vector<SliceId> ids;
        const std::int64_t link = integerOf(value).value_or(0);
        const Trace& trace = m_session.trace();
        if (link == 0)
            return restrictTo({});
        for (const Track& track : trace.tracks())
            for (const BlockRef& ref : trace.slicesOf(track.id).blocks)
                for (const LinkRole role : {LinkRole::LaunchCall, LinkRole::LaunchedWork}) {
                    const BlockPin block = ref.summary().mayLink(role, link) ? ref.pin() : BlockPin{};
                    if (!block)
                        continue;
                    for (const std::uint32_t position : block->linked(role, link))
                        ids.push_back({track.id, block->columns.ordinal(position)});
                }
        restrictTo(std::move(ids));
    }

    const Session& m_session;
    SliceFilter m_filter;
    Bounds m_steps; ///< indexes
};

int filterSlices(sqlite3_vtab_cursor* base, int, const char* plan, int count, sqlite3_value** arguments)
{
    return guarded([&] {
        auto& cursor = *static_cast<Cursor*>(base);
        const Session& session = *static_cast<const Table*>(base->pVtab)->session;
        constexpr std::size_t kCharacters = 3; // per condition
        const std::string_view text(plan);
        FilterMaker filter(session);
        std::size_t at = 0;
        for (int i = 0; i < count; ++i, at += kCharacters)
            filter.add(static_cast<SliceColumn>(text[at] - kFirstColumn), static_cast<Compare>(text[at + 1]),
                       arguments[i], text[at + 2] == kMany);
        cursor.sorted.reset();
        cursor.scan.emplace(session, filter.made());
        if (at < text.size()) {
            const bool grouped = text[at + 1] == 'g';
            std::vector<SortKey> keys;
            for (at += 2; at < text.size(); at += 2)
                keys.push_back({static_cast<SliceColumn>(text[at] - kFirstColumn), text[at + 1] == '-'});
            cursor.sorted = SortedSlices::make(session, *cursor.scan, keys, grouped);
            if (!cursor.sorted)
                return SQLITE_INTERRUPT;
        }
        return cursor.advance();
    });
}

int nextSlices(sqlite3_vtab_cursor* cursor)
{
    return guarded([&] { return static_cast<Cursor*>(cursor)->advance(); });
}

int isPastEndOfSlices(sqlite3_vtab_cursor* cursor)
{
    return static_cast<Cursor*>(cursor)->isAtEnd ? 1 : 0;
}

int rowidOfSlices(sqlite3_vtab_cursor* base, sqlite3_int64* id)
{
    const auto& cursor = *static_cast<Cursor*>(base);
    *id = sliceKey({cursor.track, cursor.block->columns.ordinal(cursor.position)});
    return SQLITE_OK;
}

void textOrNull(sqlite3_context* context, std::string_view text)
{
    if (!text.empty())
        resultText(context, text);
}

void integerIf(sqlite3_context* context, bool known, std::int64_t value)
{
    if (known)
        sqlite3_result_int64(context, value);
}

/// The columns that say how a kernel was launched; NULL for other slices.
void launchColumn(sqlite3_context* context, const Trace& trace, const Slice& slice, SliceColumn column)
{
    if (slice.kind != ActivityKind::Kernel)
        return;
    const LaunchConfig launch = trace.launch(slice.args.launch);
    const auto optional = [&](const std::optional<std::uint32_t>& value) {
        integerIf(context, value.has_value(), value.value_or(0));
    };
    switch (column) {
    case SliceColumn::GridX:
    case SliceColumn::GridY:
    case SliceColumn::GridZ:
        return integerIf(context, launch.blocks() > 0,
                         launch.grid[static_cast<std::size_t>(column) - static_cast<std::size_t>(SliceColumn::GridX)]);
    case SliceColumn::BlockX:
    case SliceColumn::BlockY:
    case SliceColumn::BlockZ:
        return integerIf(
            context, launch.threads() > 0,
            launch.block[static_cast<std::size_t>(column) - static_cast<std::size_t>(SliceColumn::BlockX)]);
    case SliceColumn::Registers:
        return optional(launch.registers);
    case SliceColumn::SharedMemory:
        return optional(launch.sharedMemory);
    case SliceColumn::DynamicSharedMemory:
        return optional(launch.dynamicSharedMemory);
    case SliceColumn::LocalMemory:
        return optional(launch.localMemory);
    case SliceColumn::Precision:
        return textOrNull(context, analysis::precisionName(analysis::kernelPrecision(trace.name(slice))));
    case SliceColumn::TensorCores:
        return sqlite3_result_int(context, analysis::usesTensorCores(trace.name(slice)) ? 1 : 0);
    default:
        if (const auto occupancy = analysis::occupancyOf(trace, slice))
            sqlite3_result_double(context, occupancy->share());
    }
}

/// Columns that need more of a slice than one column of its block.
void decodedColumn(sqlite3_context* context, const Trace& trace, const Slice& slice, SliceColumn column)
{
    const Track& track = trace.track(slice.id.track);
    const bool ofDevice = track.kind == TrackKind::Stream || track.kind == TrackKind::Annotation;
    const bool isCopy = slice.kind == ActivityKind::GpuMemcpy;
    const auto memory = [&](MemoryKind kind) { textOrNull(context, isCopy ? memoryKindName(kind) : ""); };
    const auto flag = [&](std::uint8_t bit) { sqlite3_result_int(context, slice.is(bit) ? 1 : 0); };
    switch (column) {
    case SliceColumn::ExternalId:
        return integerIf(context, slice.externalId != 0, slice.externalId);
    case SliceColumn::Device:
        if (ofDevice)
            return sqlite3_result_int64(context, track.device.value);
        return integerIf(context, slice.args.device.has_value(), slice.args.device.value_or(DeviceId{}).value);
    case SliceColumn::Stream:
        if (ofDevice)
            return sqlite3_result_int64(context, track.stream.value);
        return integerIf(context, slice.args.stream.has_value(), slice.args.stream.value_or(StreamId{}).value);
    case SliceColumn::Bytes:
        return integerIf(context, slice.args.bytes != 0 || isCopy || slice.kind == ActivityKind::GpuMemset,
                         slice.args.bytes);
    case SliceColumn::Value:
        return integerIf(context,
                         slice.args.value != 0 || slice.kind == ActivityKind::Step ||
                             slice.kind == ActivityKind::LoaderStage || slice.kind == ActivityKind::Phase,
                         slice.args.value);
    case SliceColumn::CopyKind:
        return textOrNull(context, isCopy ? copyKindName(slice.args.copy) : "");
    case SliceColumn::Src:
        return memory(slice.args.src);
    case SliceColumn::Dst:
        return memory(slice.args.dst);
    case SliceColumn::Shapes:
        return textOrNull(context, trace.string(slice.args.shapes));
    case SliceColumn::Dtypes:
        return textOrNull(context, trace.string(slice.args.types));
    case SliceColumn::IsOpen:
        return flag(slice_flag::kOpen);
    case SliceColumn::IsBackward:
        return flag(slice_flag::kBackward);
    case SliceColumn::IsAsync:
        return flag(slice_flag::kAsync);
    default:
        launchColumn(context, trace, slice, column);
    }
}

bool isLinked(ActivityKind kind)
{
    return isDeviceWork(kind) || kind == ActivityKind::CudaRuntime || kind == ActivityKind::CudaDriver;
}

int columnOfSlices(sqlite3_vtab_cursor* base, sqlite3_context* context, int index)
{
    return guarded([&] {
        auto& cursor = *static_cast<Cursor*>(base);
        const Session& session = *static_cast<const Table*>(base->pVtab)->session;
        const Trace& trace = session.trace();
        const SliceColumns& columns = cursor.block->columns;
        const std::uint32_t position = cursor.position;
        switch (const auto wanted = static_cast<SliceColumn>(index); wanted) {
        case SliceColumn::Id:
            sqlite3_result_int64(context, sliceKey({cursor.track, columns.ordinal(position)}));
            break;
        case SliceColumn::Ts:
            sqlite3_result_int64(context, columns.begin(position));
            break;
        case SliceColumn::Dur:
            sqlite3_result_int64(context, cursor.sorted ? cursor.sorted->duration() : columns.duration(position));
            break;
        case SliceColumn::TsEnd:
            sqlite3_result_int64(context, columns.end(position));
            break;
        case SliceColumn::Name:
            resultText(context, trace.string(StringId{cursor.sorted ? cursor.sorted->name() : columns.name(position)}));
            break;
        case SliceColumn::Kind:
            resultText(context, activityName(columns.kind(position)));
            break;
        case SliceColumn::Category:
            if (columns.kind(position) == ActivityKind::Kernel)
                resultText(context, static_cast<Table*>(base->pVtab)->kernelClassName(columns.name(position)));
            break;
        case SliceColumn::Track:
            sqlite3_result_int64(context, cursor.track.value);
            break;
        case SliceColumn::TrackName:
            resultText(context, trace.track(cursor.track).name);
            break;
        case SliceColumn::Depth:
            sqlite3_result_int(context, columns.depth(position));
            break;
        case SliceColumn::Parent:
            if (const int depth = columns.depth(position); depth > 0)
                if (const auto parent = trace.at(cursor.track, depth - 1, traceTime(columns.begin(position))))
                    sqlite3_result_int64(context, sliceKey(parent->id));
            break;
        case SliceColumn::Step:
            if (const analysis::Step* step = session.stepAt(traceTime(columns.begin(position))))
                sqlite3_result_int64(context, step->index);
            break;
        case SliceColumn::Correlation:
            integerIf(context, isLinked(columns.kind(position)) && columns.link(position) != 0, columns.link(position));
            break;
        case SliceColumn::Sequence:
            integerIf(context, columns.kind(position) == ActivityKind::CpuOp && columns.link(position) >= 0,
                      columns.link(position));
            break;
        default:
            if (!cursor.decoded)
                cursor.decoded = trace.sliceAt(cursor.track, *cursor.block, position);
            decodedColumn(context, trace, *cursor.decoded, wanted);
        }
        return SQLITE_OK;
    });
}

constexpr sqlite3_module kModule = [] {
    sqlite3_module module{};
    module.xConnect = connectSlices;
    module.xDisconnect = disconnectSlices;
    module.xBestIndex = bestIndexOfSlices;
    module.xOpen = openSlices;
    module.xClose = closeSlices;
    module.xFilter = filterSlices;
    module.xNext = nextSlices;
    module.xEof = isPastEndOfSlices;
    module.xColumn = columnOfSlices;
    module.xRowid = rowidOfSlices;
    return module;
}();

} // namespace

int addSliceTable(sqlite3* database, const Session& session)
{
    return sqlite3_create_module_v2(database, sliceInfo().name.c_str(), &kModule, const_cast<Session*>(&session),
                                    nullptr);
}

} // namespace profiler::query
