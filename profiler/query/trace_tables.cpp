#include "profiler/query/trace_tables.h"

#include "profiler/model/track_slices.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace profiler::query {

namespace {

std::string_view trackKindName(TrackKind kind)
{
    switch (kind) {
    case TrackKind::Thread:
        return "thread";
    case TrackKind::MainThread:
        return "main_thread";
    case TrackKind::LoaderWorker:
        return "loader_worker";
    case TrackKind::Stream:
        return "stream";
    case TrackKind::Counter:
        return "counter";
    case TrackKind::NvtxDomain:
        return "nvtx_domain";
    case TrackKind::Annotation:
        return "annotation";
    }
    return "";
}

std::string_view flowKindName(FlowKind kind)
{
    switch (kind) {
    case FlowKind::Launch:
        return "launch";
    case FlowKind::ForwardBackward:
        return "forward_backward";
    case FlowKind::Async:
        return "async";
    }
    return "";
}

void knownInteger(sqlite3_context* context, bool known, std::int64_t value)
{
    if (known)
        sqlite3_result_int64(context, value);
}

Rows trackRows(const Session& session, std::size_t first, std::size_t count)
{
    const Trace& trace = session.trace();
    return {count, [&trace, first](sqlite3_context* context, std::size_t row, int column) {
                const Track& track = trace.tracks()[first + row];
                const bool ofDevice = track.kind == TrackKind::Stream || track.kind == TrackKind::Annotation;
                switch (column) {
                case 0:
                    return sqlite3_result_int64(context, track.id.value);
                case 1:
                    return resultText(context, track.name);
                case 2:
                    return resultText(context, trackKindName(track.kind));
                case 3:
                    return knownInteger(context, track.pid != 0, track.pid);
                case 4:
                    return knownInteger(context, track.tid != 0, track.tid);
                case 5:
                    return resultText(context, track.processName);
                case 6:
                    return knownInteger(context, ofDevice, track.device.value);
                case 7:
                    return knownInteger(context, ofDevice, track.stream.value);
                case 8:
                    return resultText(context, track.unit);
                default:
                    return sqlite3_result_int64(context, static_cast<std::int64_t>(trace.sliceCount(track.id)));
                }
            }};
}

RowTable trackTable()
{
    using enum Type;
    RowTable table;
    table.info = {
        "track",
        "rows of the timeline: threads, loader workers, streams, counters, annotations",
        {{"id", Integer, Unit::None, "number of the track"},
         {"name", Text, Unit::None, "such as main thread, stream 7, loss"},
         {"kind", Text, Unit::None, "thread, main_thread, loader_worker, stream, counter, nvtx_domain, annotation"},
         {"pid", Integer, Unit::None, "process"},
         {"tid", Integer, Unit::None, "thread"},
         {"process_name", Text, Unit::None, "name of the process"},
         {"device", Integer, Unit::None, "streams and their annotations: CUDA device"},
         {"stream", Integer, Unit::None, "streams and their annotations: CUDA stream"},
         {"unit", Text, Unit::None, "counters: unit of the values"},
         {"slices", Integer, Unit::None, "number of slices"}}};
    table.all = [](const Session& session) { return trackRows(session, 0, session.trace().tracks().size()); };
    table.where = [](const Session& session, int, std::int64_t id) {
        const bool exists = id >= 0 && id < std::ssize(session.trace().tracks());
        return trackRows(session, exists ? static_cast<std::size_t>(id) : 0, exists ? 1 : 0);
    };
    table.indexed = 1;
    return table;
}

RowTable stepTable()
{
    using enum Type;
    constexpr auto kDuration = Unit::Duration;
    RowTable table;
    table.info = {"step",
                  "training steps; the parts are exclusive and add up to dur",
                  {{"step", Integer, Unit::None, "index of the step"},
                   {"ts", Integer, Unit::Time, "start"},
                   {"dur", Integer, kDuration, "duration"},
                   {"ts_end", Integer, Unit::Time, "end"},
                   {"slice_id", Integer, Unit::SliceId, "its mark; for an inferred step, its first slice"},
                   {"data_wait", Integer, kDuration, "waiting for a batch"},
                   {"copy", Integer, kDuration, "copying the batch to the device"},
                   {"forward", Integer, kDuration, "forward pass"},
                   {"backward", Integer, kDuration, "backward pass"},
                   {"optimizer", Integer, kDuration, "weight update"},
                   {"zero_grad", Integer, kDuration, "clearing the gradients"},
                   {"metrics", Integer, kDuration, "reading loss and accuracy back"},
                   {"other", Integer, kDuration, "everything else"},
                   {"is_warmup", Integer, Unit::None, "1 during warm-up"},
                   {"is_partial", Integer, Unit::None, "1 if the end of the trace cut the step off"}}};
    table.all = [](const Session& session) {
        const auto& steps = session.source.steps;
        return Rows{steps.size(), [&steps](sqlite3_context* context, std::size_t row, int column) {
                        const analysis::Step& step = steps[row];
                        const analysis::StepParts& parts = step.parts;
                        const std::int64_t values[] = {step.index,
                                                       toNs(step.range.begin),
                                                       step.range.duration().count(),
                                                       toNs(step.range.end),
                                                       sliceKey(step.slice),
                                                       parts.dataWait.count(),
                                                       parts.copy.count(),
                                                       parts.forward.count(),
                                                       parts.backward.count(),
                                                       parts.optimizer.count(),
                                                       parts.zeroGrad.count(),
                                                       parts.metrics.count(),
                                                       parts.other.count(),
                                                       step.warmup ? 1 : 0,
                                                       step.partial ? 1 : 0};
                        sqlite3_result_int64(context, values[column]);
                    }};
    };
    return table;
}

Rows counterRows(const Session& session, const std::vector<TrackId>& tracks)
{
    struct Sample {
        TrackId track;
        CounterSample sample;
    };
    auto samples = std::make_shared<std::vector<Sample>>();
    const Trace& trace = session.trace();
    for (const TrackId track : tracks)
        for (const CounterSample& sample : trace.counter(track))
            samples->push_back({track, sample});
    return {samples->size(), [samples, &trace](sqlite3_context* context, std::size_t row, int column) {
                const Sample& sample = (*samples)[row];
                switch (column) {
                case 0:
                    return sqlite3_result_int64(context, sample.track.value);
                case 1:
                    return resultText(context, trace.track(sample.track).name);
                case 2:
                    return sqlite3_result_int64(context, toNs(sample.sample.time));
                case 3:
                    return sqlite3_result_double(context, sample.sample.value);
                default:
                    return resultText(context, trace.track(sample.track).unit);
                }
            }};
}

RowTable counterTable()
{
    using enum Type;
    RowTable table;
    table.info = {"counter",
                  "samples of counters: memory, loss, throughput, GPU utilization",
                  {{"track", Integer, Unit::None, "track.id"},
                   {"name", Text, Unit::None, "name of the counter"},
                   {"ts", Integer, Unit::Time, "when the value was taken"},
                   {"value", Real, Unit::None, "in the unit of the counter"},
                   {"unit", Text, Unit::None, "bytes, samples/s …"}}};
    table.all = [](const Session& session) {
        std::vector<TrackId> tracks;
        for (const Track& track : session.trace().tracks())
            if (track.kind == TrackKind::Counter)
                tracks.push_back(track.id);
        return counterRows(session, tracks);
    };
    table.where = [](const Session& session, int, std::int64_t id) {
        const auto tracks = session.trace().tracks();
        const bool exists =
            id >= 0 && id < std::ssize(tracks) && tracks[static_cast<std::size_t>(id)].kind == TrackKind::Counter;
        return counterRows(session,
                           exists ? std::vector{TrackId{static_cast<std::uint32_t>(id)}} : std::vector<TrackId>{});
    };
    table.indexed = 1;
    return table;
}

Rows flowRows(std::shared_ptr<const std::vector<Flow>> flows)
{
    const std::size_t count = flows->size();
    return {count, [flows = std::move(flows)](sqlite3_context* context, std::size_t row, int column) {
                const Flow& flow = (*flows)[row];
                if (column == 2)
                    resultText(context, flowKindName(flow.kind));
                else
                    sqlite3_result_int64(context, sliceKey(column == 0 ? flow.from : flow.to));
            }};
}

/// Every arrow once: those recorded in the file, and those by correlation and sequence number, which are found from
/// their ends.
Rows allFlows(const Session& session)
{
    const Trace& trace = session.trace();
    const auto recorded = trace.explicitFlows();
    auto flows = std::make_shared<std::vector<Flow>>(recorded.begin(), recorded.end());
    const auto before = [](const Flow& a, const Flow& b) { return std::pair{a.from, a.to} < std::pair{b.from, b.to}; };
    const std::size_t explicitCount = flows->size();
    for (const Track& track : trace.tracks()) {
        for (const BlockRef& ref : trace.slicesOf(track.id).blocks) {
            const BlockPin block = ref.pin();
            for (std::uint32_t position = 0; block && position < block->size(); ++position) {
                if (position % 1024 == 0 && session.mustStop())
                    return flowRows(flows);
                const ActivityKind kind = block->columns.kind(position);
                if (!isDeviceWork(kind) && kind != ActivityKind::CpuOp)
                    continue;
                const SliceId id{track.id, block->columns.ordinal(position)};
                for (const Flow& flow : trace.flowsOf(id))
                    if (flow.to == id && flow.kind != FlowKind::Async &&
                        !std::binary_search(flows->begin(), flows->begin() + static_cast<std::ptrdiff_t>(explicitCount),
                                            flow, before))
                        flows->push_back(flow);
            }
        }
    }
    return flowRows(flows);
}

RowTable flowTable()
{
    using enum Type;
    RowTable table;
    table.info = {"flow",
                  "arrows between slices: launches, forward to backward, and those recorded in the file",
                  {{"from_id", Integer, Unit::SliceId, "slice.id at the start"},
                   {"to_id", Integer, Unit::SliceId, "slice.id at the end"},
                   {"kind", Text, Unit::None, "launch, forward_backward, async"}}};
    table.all = allFlows;
    table.where = [](const Session& session, int column, std::int64_t key) {
        auto flows = std::make_shared<std::vector<Flow>>();
        if (const auto id = sliceOfKey(session.trace(), key))
            for (const Flow& flow : session.trace().flowsOf(*id))
                if ((column == 0 ? flow.from : flow.to) == *id)
                    flows->push_back(flow);
        return flowRows(flows);
    };
    table.indexed = 2;
    return table;
}

RowTable deviceTable()
{
    using enum Type;
    RowTable table;
    table.info = {"device",
                  "the devices of the trace",
                  {{"device", Integer, Unit::None, "CUDA device"},
                   {"name", Text, Unit::None, "such as NVIDIA H100"},
                   {"uuid", Text, Unit::None, "empty if unknown"},
                   {"compute_capability", Text, Unit::None, "such as 9.0"},
                   {"memory_bytes", Integer, Unit::Bytes, "size of the memory"},
                   {"multiprocessors", Integer, Unit::None, "their number"}}};
    table.all = [](const Session& session) {
        const auto devices = session.trace().devices();
        return Rows{devices.size(), [devices](sqlite3_context* context, std::size_t row, int column) {
                        const Device& device = devices[row];
                        switch (column) {
                        case 0:
                            return sqlite3_result_int64(context, device.id.value);
                        case 1:
                            return resultText(context, device.name);
                        case 2:
                            return resultText(context, device.uuid);
                        case 3: {
                            const std::string text =
                                std::to_string(device.computeMajor) + '.' + std::to_string(device.computeMinor);
                            if (device.computeMajor > 0)
                                sqlite3_result_text(context, text.data(), static_cast<int>(text.size()),
                                                    SQLITE_TRANSIENT);
                            return;
                        }
                        case 4:
                            return knownInteger(context, device.memoryBytes > 0, device.memoryBytes);
                        default:
                            return knownInteger(context, device.multiprocessors > 0, device.multiprocessors);
                        }
                    }};
    };
    return table;
}

RowTable metadataTable()
{
    using enum Type;
    RowTable table;
    table.info = {"metadata",
                  "facts about the run and its program: versions, configuration, command",
                  {{"key", Text, Unit::None, "such as versions.torch"}, {"value", Text, Unit::None, "text"}}};
    table.all = [](const Session& session) {
        using Entry = std::pair<std::string_view, std::string_view>;
        auto entries = std::make_shared<std::vector<Entry>>();
        for (const auto& [key, value] : session.trace().metadata())
            entries->emplace_back(key, value);
        return Rows{entries->size(), [entries](sqlite3_context* context, std::size_t row, int column) {
                        resultText(context, column == 0 ? (*entries)[row].first : (*entries)[row].second);
                    }};
    };
    return table;
}

/// The module of all row tables.
struct Module {
    const RowTable* table;
    const Session* session;
};
struct Table : sqlite3_vtab {
    const Module* module;
};
struct Cursor : sqlite3_vtab_cursor {
    Rows rows;
    std::size_t row = 0;
};

int connectRows(sqlite3* database, void* aux, int, const char* const*, sqlite3_vtab** table, char**)
{
    return guarded([&] {
        const auto* module = static_cast<const Module*>(aux);
        const int status = sqlite3_declare_vtab(database, declaration(module->table->info).c_str());
        if (status != SQLITE_OK)
            return status;
        sqlite3_vtab_config(database, SQLITE_VTAB_INNOCUOUS);
        auto made = std::make_unique<Table>();
        made->module = module;
        *table = made.release();
        return SQLITE_OK;
    });
}

int disconnectRows(sqlite3_vtab* table)
{
    delete static_cast<Table*>(table);
    return SQLITE_OK;
}

/// idxNum: 1 + the column whose value is given; 0: all rows.
int bestIndexOfRows(sqlite3_vtab* table, sqlite3_index_info* info)
{
    const RowTable& rows = *static_cast<Table*>(table)->module->table;
    constexpr double kMany = 1e6;
    info->estimatedCost = kMany;
    for (int i = 0; i < info->nConstraint; ++i) {
        const auto& constraint = info->aConstraint[i];
        if (!constraint.usable || constraint.op != SQLITE_INDEX_CONSTRAINT_EQ || constraint.iColumn < 0 ||
            constraint.iColumn >= rows.indexed)
            continue;
        info->aConstraintUsage[i].argvIndex = 1;
        info->idxNum = 1 + constraint.iColumn;
        info->estimatedCost = 10;
        info->estimatedRows = 2;
        break;
    }
    return SQLITE_OK;
}

int openRows(sqlite3_vtab*, sqlite3_vtab_cursor** cursor)
{
    return guarded([&] {
        *cursor = new Cursor;
        return SQLITE_OK;
    });
}

int closeRows(sqlite3_vtab_cursor* cursor)
{
    delete static_cast<Cursor*>(cursor);
    return SQLITE_OK;
}

int filterRows(sqlite3_vtab_cursor* base, int column, const char*, int, sqlite3_value** arguments)
{
    return guarded([&] {
        auto& cursor = *static_cast<Cursor*>(base);
        const Module& module = *static_cast<const Table*>(base->pVtab)->module;
        cursor.row = 0;
        // SQLite checks the constraint again, so any other type may use all rows.
        if (column > 0 && sqlite3_value_type(arguments[0]) == SQLITE_INTEGER)
            cursor.rows = module.table->where(*module.session, column - 1, sqlite3_value_int64(arguments[0]));
        else
            cursor.rows = module.table->all(*module.session);
        return module.session->mustStop() ? SQLITE_INTERRUPT : SQLITE_OK;
    });
}

int nextRows(sqlite3_vtab_cursor* cursor)
{
    ++static_cast<Cursor*>(cursor)->row;
    return SQLITE_OK;
}

int isPastEndOfRows(sqlite3_vtab_cursor* base)
{
    const auto& cursor = *static_cast<Cursor*>(base);
    return cursor.row >= cursor.rows.count ? 1 : 0;
}

int columnOfRows(sqlite3_vtab_cursor* base, sqlite3_context* context, int index)
{
    return guarded([&] {
        const auto& cursor = *static_cast<Cursor*>(base);
        cursor.rows.cell(context, cursor.row, index);
        return SQLITE_OK;
    });
}

int rowidOfRows(sqlite3_vtab_cursor* cursor, sqlite3_int64* id)
{
    *id = static_cast<sqlite3_int64>(static_cast<Cursor*>(cursor)->row);
    return SQLITE_OK;
}

constexpr sqlite3_module kModule = [] {
    sqlite3_module module{};
    module.xConnect = connectRows;
    module.xDisconnect = disconnectRows;
    module.xBestIndex = bestIndexOfRows;
    module.xOpen = openRows;
    module.xClose = closeRows;
    module.xFilter = filterRows;
    module.xNext = nextRows;
    module.xEof = isPastEndOfRows;
    module.xColumn = columnOfRows;
    module.xRowid = rowidOfRows;
    return module;
}();

void setResult(sqlite3_context* context, const Value& value)
{
    if (const auto* integer = std::get_if<std::int64_t>(&value))
        sqlite3_result_int64(context, *integer);
    else if (const auto* real = std::get_if<double>(&value))
        sqlite3_result_double(context, *real);
    else if (const auto* text = std::get_if<std::string>(&value))
        resultText(context, *text);
}

} // namespace

std::span<const RowTable> traceTables()
{
    static const RowTable all[] = {stepTable(), trackTable(),  counterTable(),
                                   flowTable(), deviceTable(), metadataTable()};
    return all;
}

RowTable extraRowTable(const ExtraTable& extra)
{
    RowTable table;
    table.info = extra.info;
    // A join reads the table once for each row of the other one.
    auto collected = std::make_shared<std::optional<std::vector<std::vector<Value>>>>();
    table.all = [collected, &extra](const Session&) {
        if (!*collected)
            *collected = extra.rows();
        return Rows{(*collected)->size(), [collected](sqlite3_context* context, std::size_t row, int column) {
                        setResult(context, (**collected)[row][static_cast<std::size_t>(column)]);
                    }};
    };
    return table;
}

int addRowTable(sqlite3* database, const RowTable& table, const Session& session)
{
    return sqlite3_create_module_v2(database, table.info.name.c_str(), &kModule, new Module{&table, &session},
                                    [](void* module) { delete static_cast<Module*>(module); });
}

} // namespace profiler::query
