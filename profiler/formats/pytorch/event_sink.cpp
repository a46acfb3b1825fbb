#include "profiler/formats/pytorch/event_sink.h"

#include "profiler/formats/pytorch/json_text.h"
#include "profiler/formats/pytorch/json_values.h"
#include "profiler/model/activity.h"
#include "profiler/model/pools.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <xxhash.h>

namespace profiler::formats::json {

namespace {

/// The number at the end of a text: 7 for "stream 7".
std::optional<std::int64_t> trailingNumber(std::string_view text)
{
    const auto last = text.find_last_not_of("0123456789");
    const std::string_view digits = text.substr(last == text.npos ? 0 : last + 1);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return error == std::errc{} && !digits.empty() ? std::optional(value) : std::nullopt;
}

void setIdent(const Ident& ident, std::int64_t& number, bool& isText)
{
    isText = ident.text.data() != nullptr;
    number = isText ? static_cast<std::int64_t>(XXH3_64bits(ident.text.data(), ident.text.size())) : ident.number;
}

std::int64_t numberOf(const Ident& ident)
{
    return ident.text.data() ? trailingNumber(ident.text).value_or(0) : ident.number;
}

/// The row that an event belongs to.
RowKey rowKey(const Event& event, RowKind rowKind)
{
    RowKey key;
    key.kind = rowKind;
    setIdent(event.pid, key.process, key.processIsText);
    if (rowKind == RowKind::Host) {
        setIdent(event.tid, key.thread, key.threadIsText);
        return key;
    }
    if (event.pid.text == kCudaFunctions) {
        key.device = numberOf(event.tid);
        key.stream = 0;
        return key;
    }
    // Our writer gives streams with equal numbers, of two processes or contexts, different made-up thread ids.
    if (!event.tid.text.data() && event.tid.number >= kMadeUpIds)
        key.thread = event.tid.number;
    key.device = event.has(Event::kDevice) ? event.device : numberOf(event.pid);
    key.stream = event.has(Event::kStream) ? event.stream : numberOf(event.tid);
    return key;
}

constexpr std::string_view kStepMark = "ProfilerStep#";

NameUse useOf(std::string_view name)
{
    if (name.starts_with(kStepMark))
        return NameUse::Step;
    if (name == "[memory]")
        return NameUse::Memory;
    if (name == "Stream Wait Event")
        return NameUse::StreamWait;
    return name.starts_with("Iteration Start:") || name == "Record Window End" ? NameUse::WindowMark : NameUse::Plain;
}

} // namespace

std::uint32_t SharedBuild::internName(std::string_view text)
{
    const std::scoped_lock lock(m_mutex);
    return builder.intern(text).value;
}

std::vector<std::uint32_t> SharedBuild::internArgs(std::span<const ArgsOfPart> args)
{
    std::vector<std::uint32_t> ids;
    ids.reserve(args.size());
    const std::scoped_lock lock(m_mutex);
    for (const auto& [launch, others] : args) {
        SliceArgs whole = others;
        whole.launch = builder.internLaunch(launch);
        ids.push_back(builder.internArgs(whole));
    }
    return ids;
}

void SharedBuild::addMany(std::uint32_t rowId, std::vector<RawSlice>&& slices)
{
    const std::scoped_lock lock(m_mutex);
    std::optional<TrackId>& track = rowInfos[rowId].track;
    if (!track)
        track = builder.addTrack({});
    builder.addMany(*track, std::move(slices), Depth::BySource);
}

std::uint32_t SharedBuild::rowId(const RowKey& key, const Event& event)
{
    const std::scoped_lock lock(m_mutex);
    const auto [place, isNew] = m_ids.try_emplace(key);
    if (isNew) {
        place->second = static_cast<std::uint32_t>(rowInfos.size());
        rowInfos.push_back({.key = key,
                            .processText = key.processIsText ? unescaped(event.pid.text) : std::string{},
                            .threadText = key.threadIsText ? unescaped(event.tid.text) : std::string{},
                            .track = {},
                            .device = {}});
    }
    return place->second;
}

std::size_t Names::Hash::operator()(std::string_view text) const
{
    return XXH3_64bits(text.data(), text.size());
}

const Name& Names::find(std::string_view raw, bool odd)
{
    if (const auto known = m_names.find(raw); known != m_names.end())
        return known->second;
    const std::string text = odd ? unescaped(raw) : std::string(raw);
    Name name{.id = m_shared.internName(text), .use = useOf(text), .copy = copyFromName(text)};
    if (name.use == NameUse::Step)
        std::from_chars(text.data() + kStepMark.size(), text.data() + text.size(), name.number);
    return m_names.emplace(raw, name).first->second;
}

namespace {

constexpr std::size_t kArgsKept = 1024; // a power of two
/// CUPTI's ids are at most this large. Larger ids are made by Stepscope and encode their process.
constexpr std::int64_t kLargestCorrelation = 0xffffffff;

std::size_t hashOf(const RowKey& key)
{
    const auto mix = [](std::uint64_t a, std::int64_t b) {
        return (a ^ static_cast<std::uint64_t>(b)) * 0x9E3779B97F4A7C15ULL;
    };
    std::uint64_t hash = mix(static_cast<std::uint64_t>(key.kind) + 1, key.process);
    hash = mix(mix(mix(hash, key.thread), key.device), key.stream);
    return static_cast<std::size_t>(hash >> 58);
}

std::size_t hashOf(const SliceArgs& args)
{
    std::uint64_t hash = static_cast<std::uint64_t>(args.bytes) * 0x9E3779B97F4A7C15ULL;
    hash = (hash ^ static_cast<std::uint64_t>(args.value)) * 0xFF51AFD7ED558CCDULL;
    hash ^= std::uint64_t{args.shapes.value} << 32 | args.types.value;
    hash = (hash ^ hash >> 29) * 0xC4CEB9FE1A85EC53ULL;
    return static_cast<std::size_t>(hash >> 54);
}

template <char... kPhases>
bool isOneOf(char phase)
{
    return ((phase == kPhases) || ...);
}

bool isInstant(char phase)
{
    return isOneOf<'i', 'I', 'R', 'n', 'T', 'p'>(phase);
}

std::uint32_t id32(std::int64_t value)
{
    return static_cast<std::uint32_t>(std::clamp<std::int64_t>(value, 0, 0xffffffff));
}

LaunchConfig launchOf(const Event& event)
{
    constexpr std::uint64_t kAny = Event::kGrid | Event::kBlock | Event::kRegisters | Event::kSharedMemory |
                                   Event::kDynamicShared | Event::kLocalMemory;
    LaunchConfig launch;
    if ((event.present & kAny) == 0)
        return launch;
    if (event.has(Event::kGrid))
        launch.grid = event.grid;
    if (event.has(Event::kBlock))
        launch.block = event.block;
    const auto figure = [&](Event::Field field, std::int64_t value, std::optional<std::uint32_t>& to) {
        if (event.has(field) && value >= 0)
            to = id32(value);
    };
    if (event.registers > 0)
        figure(Event::kRegisters, event.registers, launch.registers);
    figure(Event::kSharedMemory, event.sharedMemory, launch.sharedMemory);
    figure(Event::kDynamicShared, event.dynamicShared, launch.dynamicSharedMemory);
    figure(Event::kLocalMemory, event.localMemory, launch.localMemory);
    return launch;
}

std::uint64_t identHash(const Ident& ident)
{
    return ident.text.data() ? XXH3_64bits(ident.text.data(), ident.text.size())
                             : static_cast<std::uint64_t>(ident.number);
}

// Numbers hash to themselves; multiplying by this spreads neighbouring numbers.
constexpr std::uint64_t kMix = 0x9E3779B97F4A7C15ULL;

void mark(std::vector<bool>& rows, std::uint32_t rowId)
{
    if (rowId >= rows.size())
        rows.resize(rowId + 1);
    rows[rowId] = true;
}

/// The values of a counter event.
struct CounterArgs {
    std::vector<std::pair<std::string, double>> numbers;
    std::size_t count = 0; ///< values of any type
};

/// @param json  an object without syntax errors, in a window
/// @return empty if a number does not fit in a double, or the object is not valid JSON
std::optional<CounterArgs> counterArgs(std::string_view json)
{
    CounterArgs args;
    Values reader;
    reader.end = json.data() + json.size();
    bool fits = true;
    forEachEntry(json, reader, [&](std::string_view key, std::string_view value) {
        ++args.count;
        if (!isDigit(value[value.front() == '-']))
            return;
        double number = 0;
        fits = std::from_chars(value.data(), value.data() + value.size(), number).ec == std::errc{} && fits;
        args.numbers.emplace_back(unescaped(key), number);
    });
    return fits && (reader.odd & ~Event::kBadUtf8) == 0 ? std::optional(std::move(args)) : std::nullopt;
}

/// The block of a memory event; none before PyTorch 1.9.
std::optional<std::uint64_t> addressOf(const Event& event)
{
    std::optional<std::uint64_t> address;
    if (!event.has(Event::kArgs))
        return address;
    Values reader;
    reader.end = event.args.data() + event.args.size();
    forEachEntry(event.args, reader, [&](std::string_view key, std::string_view value) {
        std::uint64_t number = 0;
        if (key == "Addr" && std::from_chars(value.data(), value.data() + value.size(), number).ec == std::errc{})
            address = number;
    });
    return address;
}

/// c10::DeviceType of host memory; all other numbers are accelerators.
constexpr std::int64_t kCpu = 0;

} // namespace

EventSink::EventSink(SharedBuild& shared, const PassOptions& passOptions)
    : m_shared(shared), m_names(shared), m_keepLaunchFlows(passOptions.keepLaunchFlows), m_ranges(passOptions.gathered),
      m_argsPlaces(kArgsKept)
{
}

void EventSink::begin(ScanResult& result)
{
    m_result = &result;
    std::fill(m_rowOf.begin(), m_rowOf.end(), 0);
}

void EventSink::end()
{
    m_ranges.end(*m_result, [this](std::uint32_t rowId, const RawSlice& slice) { slicesOf(rowId).push_back(slice); });
    replaceArgs();
    for (const RowSlices& rows : m_result->rows)
        m_expected[rows.rowId] = rows.slices.size();
    m_result = nullptr;
}

void EventSink::replaceArgs()
{
    if (m_args.empty())
        return;
    const std::vector<std::uint32_t> ids = m_shared.internArgs(m_args);
    const auto replace = [&](RawSlice& slice) { slice.args = slice.args == 0 ? 0 : ids[slice.args - 1]; };
    for (RowSlices& rows : m_result->rows)
        std::for_each(rows.slices.begin(), rows.slices.end(), replace);
    for (RangeEnd& end : m_result->rangeEnds)
        replace(end.slice);
    m_args.clear();
    std::fill(m_argsPlaces.begin(), m_argsPlaces.end(), 0);
}

void EventSink::setWindow(const char* window, std::uint64_t offset)
{
    m_window = window;
    m_windowOffset = offset;
}

std::uint64_t EventSink::offsetOf(const Event& event) const
{
    return m_windowOffset + static_cast<std::uint64_t>(event.begin - m_window);
}

std::uint32_t EventSink::intern(std::string_view json)
{
    return m_shared.internName(plainArray(json));
}

void EventSink::countOddities(const Event& event)
{
    constexpr std::pair<std::uint32_t, Loss> kMeanings[] = {
        {Event::kNotANumber, Loss::NotANumber}, {Event::kControlText, Loss::ControlText},
        {Event::kBadEscape, Loss::BadEscape},   {Event::kBadUtf8, Loss::BadUtf8},
        {Event::kBadNumber, Loss::BadNumber},   {Event::kNoComma, Loss::NoComma},
    };
    for (const auto& [bit, loss] : kMeanings)
        if ((event.odd & bit) != 0)
            m_result->losses.add(loss, offsetOf(event));
}

bool EventSink::hasTime(const Event& event)
{
    if (event.has(Event::kTime))
        return true;
    m_result->losses.add((event.odd & Event::kHugeTime) != 0 ? Loss::HugeTime : Loss::NoTime, offsetOf(event));
    return false;
}

void EventSink::take(const Event& event)
{
    ++m_result->events;
    if (event.odd != 0)
        countOddities(event);
    const char phase = event.phase;
    if (phase == 'X')
        takeWhole(event);
    else if (isOneOf<'s', 't', 'f'>(phase))
        takeFlow(event);
    else if (isOneOf<'B', 'E', 'b', 'e', 'S', 'F'>(phase))
        takeRangeEnd(event);
    else if (isInstant(phase))
        takeInstant(event);
    else if (phase == 'C')
        takeCounter(event);
    else if (phase == 'M')
        takeMetadata(event);
    else
        m_result->losses.add(Loss::OtherPhase, offsetOf(event));
}

const Name& EventSink::nameOf(const Event& event)
{
    return m_names.find(event.has(Event::kName) ? event.name : std::string_view(""), event.nameOdd);
}

void EventSink::takeWhole(const Event& event)
{
    if (!hasTime(event))
        return;
    const Name& name = nameOf(event);
    RowKind rowKind{};
    RawSlice slice = makeSlice(event, name, rowKind);
    if (!event.has(Event::kDuration)) {
        const bool huge = (event.odd & Event::kHugeTime) != 0;
        m_result->losses.add(huge ? Loss::HugeDuration : Loss::NoDuration, offsetOf(event));
    } else if (event.duration < 0) {
        m_result->losses.add(Loss::NegativeDuration, offsetOf(event));
    } else {
        slice.duration = event.duration;
    }
    const std::uint32_t row = rowIdOf(rowKey(event, rowKind), event);
    markRow(slice, row);
    if ((event.present & (Event::kFlowIn | Event::kFlowOut)) != 0)
        takeBinding(event, row);
    m_result->latest = std::max(m_result->latest, slice.end());
    slicesOf(row).push_back(slice);
}

void EventSink::markRow(const RawSlice& slice, std::uint32_t rowId)
{
    if (slice.kind == ActivityKind::Step)
        mark(m_result->stepRows, rowId);
    else if (slice.kind == ActivityKind::CpuOp)
        mark(m_result->opRows, rowId);
    else if (slice.link > 0 && slice.link <= kLargestCorrelation &&
             (slice.kind == ActivityKind::CudaRuntime || slice.kind == ActivityKind::CudaDriver))
        mark(m_result->callRows, rowId);
}

RawSlice EventSink::makeSlice(const Event& event, const Name& name, RowKind& rowKind)
{
    const bool hasCategory = event.category != 0 || event.has(Event::kCategory) || !event.pid.text.data();
    const Category& category = kCategories[hasCategory ? event.category : processCategory(event.pid.text)];
    RawSlice slice;
    slice.begin = event.time;
    slice.kind = category.kind;
    slice.name = name.id;
    rowKind = category.rowKind;
    slice.setSource(offsetOf(event));
    if (event.has(Event::kExternal))
        slice.external = id32(event.external);
    // An instant is not work, and the end of a range is counted with its start.
    if (isDeviceWork(slice.kind) && isInstant(event.phase))
        slice.kind = ActivityKind::Other;
    const bool counts = event.phase != 'E' && event.phase != 'e' && event.phase != 'F';
    m_result->deviceWork += counts && isDeviceWork(slice.kind);
    if (slice.kind == ActivityKind::Sync && name.use == NameUse::StreamWait)
        slice.kind = ActivityKind::Other;
    const bool ofProgram = category.kind == ActivityKind::CpuOp || category.kind == ActivityKind::UserAnnotation;
    if (name.use == NameUse::Step && ofProgram) {
        slice.kind = ActivityKind::Step;
        m_result->markedOps += counts && category.kind == ActivityKind::CpuOp;
    }
    if (slice.kind == ActivityKind::CpuOp) {
        const bool numbered = event.has(Event::kSequence) && event.sequence >= 0;
        slice.link = numbered ? event.sequence : -1;
        if (numbered && event.has(Event::kForwardThread) && event.forwardThread > 0)
            slice.flags |= slice_flag::kBackward;
    } else if (event.has(Event::kCorrelation)) {
        slice.link = event.correlation;
    } else {
        m_result->uncorrelated += counts && isDeviceWork(slice.kind);
    }
    slice.args = argsOf(event, name, slice.kind, rowKind);
    return slice;
}

/// The number of the arguments in m_args, from 1 on, until replaceArgs(); 0 for none.
std::uint32_t EventSink::argsOf(const Event& event, const Name& name, ActivityKind kind, RowKind rowKind)
{
    constexpr std::uint32_t kAny =
        Event::kBytes | Event::kShapes | Event::kTypes | Event::kDevice | Event::kStream | Event::kIndex;
    const LaunchConfig launch = kind == ActivityKind::Kernel ? launchOf(event) : LaunchConfig{};
    const bool launched = launch != LaunchConfig{};
    const bool onDevice = rowKind != RowKind::Host && kind != ActivityKind::GpuMemcpy && !event.has(Event::kBytes);
    if (kind != ActivityKind::Step && !launched &&
        (onDevice || ((event.present & kAny) == 0 && kind != ActivityKind::GpuMemcpy)))
        return 0;
    SliceArgs args;
    if (kind == ActivityKind::Step)
        args.value = name.number;
    else if (event.has(Event::kIndex) && (kind == ActivityKind::Phase || kind == ActivityKind::LoaderStage))
        args.value = event.index;
    if (event.has(Event::kBytes))
        args.bytes = event.bytes;
    if (kind == ActivityKind::GpuMemcpy) {
        args.copy = name.copy.copy;
        args.src = name.copy.src;
        args.dst = name.copy.dst;
    }
    if (kind == ActivityKind::CpuOp) {
        args.shapes = StringId{event.has(Event::kShapes) ? event.shapes : 0};
        args.types = StringId{event.has(Event::kTypes) ? event.types : 0};
    }
    if (rowKind == RowKind::Host && kind != ActivityKind::CpuOp) {
        if (event.has(Event::kDevice) && event.device >= 0)
            args.device = DeviceId{id32(event.device)};
        if (event.has(Event::kStream) && event.stream >= 0)
            args.stream = StreamId{id32(event.stream)};
    }
    const std::size_t hash = hashOf(args) ^ (launched ? LaunchPool::hashOf(launch) : 0);
    std::uint32_t& place = m_argsPlaces[hash & (kArgsKept - 1)];
    if (place == 0 || m_args[place - 1].launch != launch || m_args[place - 1].others != args) {
        m_args.push_back({launch, args});
        place = static_cast<std::uint32_t>(m_args.size());
    }
    return place;
}

std::uint32_t EventSink::rowIdOf(const RowKey& key, const Event& event)
{
    CachedRow& cached = m_cachedRows[hashOf(key)];
    if (!cached.known || cached.key != key)
        cached = {key, m_shared.rowId(key, event), true};
    return cached.rowId;
}

std::vector<RawSlice>& EventSink::slicesOf(std::uint32_t rowId)
{
    if (rowId >= m_rowOf.size()) {
        m_rowOf.resize(rowId + 1, 0);
        m_expected.resize(rowId + 1, 0);
    }
    std::uint32_t& row = m_rowOf[rowId];
    if (row == 0) {
        m_result->rows.push_back({rowId, {}});
        row = static_cast<std::uint32_t>(m_result->rows.size());
        const std::size_t expected = m_expected[rowId];
        m_result->rows.back().slices.reserve(expected + expected / 8);
    }
    return m_result->rows[row - 1].slices;
}

void EventSink::takeInstant(const Event& event)
{
    if (!hasTime(event))
        return;
    const Name& name = nameOf(event);
    if (name.use == NameUse::Memory && event.has(Event::kDeviceType))
        return takeMemory(event);
    if (name.use == NameUse::WindowMark) {
        m_result->metadata.push_back({{}, std::string(event.name), std::to_string(event.time), offsetOf(event)});
        return;
    }
    RowKind rowKind{};
    const RawSlice slice = makeSlice(event, name, rowKind);
    slicesOf(rowIdOf(rowKey(event, rowKind), event)).push_back(slice);
}

std::uint32_t EventSink::processRow(const Event& event)
{
    RowKey key = rowKey(event, RowKind::Host);
    key.thread = 0;
    key.threadIsText = false;
    return rowIdOf(key, event);
}

void EventSink::takeMemory(const Event& event)
{
    const bool host = event.deviceType == kCpu;
    const std::string owner = host ? "CPU" : "GPU " + std::to_string(std::max<std::int64_t>(event.deviceIndex, 0));
    const std::uint32_t rowId = processRow(event);
    const auto add = [&](std::string_view what, std::int64_t value, bool isChange) {
        const std::string text = owner + " memory " + std::string(what);
        const std::uint32_t id = m_names.find(text, false).id;
        m_result->samples.push_back({id, rowId, {traceTime(event.time), static_cast<double>(value)}, isChange, true});
    };
    if (event.has(Event::kAllocated))
        add("allocated", event.allocated, false);
    else if (event.has(Event::kBytes))
        add("allocated" + std::string(counter::kSinceBegin), event.bytes, true);
    // Host memory has no reserved total; the value is always zero.
    if (event.has(Event::kReserved) && !host)
        add("reserved", event.reserved, false);
    const auto address = event.has(Event::kBytes | Event::kAllocated) ? addressOf(event) : std::nullopt;
    if (!address)
        return;
    const std::int64_t device = std::clamp<std::int64_t>(event.deviceIndex, 0, 0xffff);
    m_result->allocations.push_back({.time = event.time,
                                     .address = *address,
                                     .bytes = event.bytes,
                                     .total = event.allocated,
                                     .rowId = rowIdOf(rowKey(event, RowKind::Host), event),
                                     .device = host ? Allocation::kHost : static_cast<std::int32_t>(device)});
}

void EventSink::takeRangeEnd(const Event& event)
{
    if (!hasTime(event))
        return;
    const bool async = event.phase != 'B' && event.phase != 'E';
    const Name& name = nameOf(event);
    RangeEnd end;
    end.named = event.has(Event::kName);
    end.begins = event.phase == 'B' || event.phase == 'b' || event.phase == 'S';
    RowKind rowKind{};
    end.slice = makeSlice(event, name, rowKind);
    if (!async) { // an end may omit the category
        end.key = identHash(event.pid) * kMix + identHash(event.tid);
        end.rowId = end.begins ? rowIdOf(rowKey(event, rowKind), event) : 0;
    } else {
        // Asynchronous ranges belong to no thread: each category of a process gets a row.
        Event row = event;
        row.tid = {.text = event.has(Event::kCategory) ? event.categoryText : std::string_view("asynchronous")};
        RowKey key = rowKey(row, RowKind::Host);
        key.category = static_cast<std::uint8_t>(event.category + 1);
        end.rowId = end.begins ? rowIdOf(key, row) : 0;
        end.key = XXH3_64bits_withSeed(&key.process, sizeof key.process, identHash(event.id));
        if (event.has(Event::kScope))
            end.key += identHash(event.scope) * kMix;
        end.key = XXH3_64bits_withSeed(&key.thread, sizeof key.thread, end.key + key.category);
    }
    if (end.begins && end.slice.kind == ActivityKind::Step)
        mark(m_result->stepRows, end.rowId);
    if (!end.begins && event.has(Event::kArgs) && event.args.find_first_not_of("{} \t\r\n") != event.args.npos)
        m_result->losses.add(Loss::EndArgs, offsetOf(event));
    m_ranges.add(end);
}

void EventSink::takeFlow(const Event& event)
{
    const FlowUse use = kCategories[event.category].flow;
    if (use == FlowUse::Launch && event.category != 0) {
        ++m_result->launchFlows;
        if (!m_keepLaunchFlows)
            return;
    }
    if (!hasTime(event))
        return;
    // The end of a launch flow is on a stream, whose rows flow events identify only by process and thread.
    const bool onDevice = use == FlowUse::Launch && event.phase == 'f';
    const Ident& id = event.has(Event::kId) ? event.id : event.bind;
    FlowPoint point;
    point.phase = event.phase;
    // Chrome's default. Kineto asks for the enclosing slice.
    point.ofNext = event.phase == 'f' && !event.has(Event::kEnclosing);
    point.category = event.category;
    point.offset = offsetOf(event);
    point.id = identHash(id);
    if (event.has(Event::kLocalId))
        point.id = point.id * kMix + identHash(event.pid);
    if (event.has(Event::kScope))
        point.id += identHash(event.scope) * kMix;
    if (event.category == 0)
        point.id ^= XXH3_64bits(event.categoryText.data(), event.has(Event::kCategory) ? event.categoryText.size() : 0);
    point.rowId = rowIdOf(rowKey(event, onDevice ? RowKind::Device : RowKind::Host), event);
    point.time = event.time;
    m_result->flows.push_back(point);
}

void EventSink::takeBinding(const Event& event, std::uint32_t rowId)
{
    if (!event.has(Event::kBind))
        return;
    FlowPoint point;
    point.phase = !event.has(Event::kFlowIn) ? 's' : event.has(Event::kFlowOut) ? 't' : 'f';
    point.offset = offsetOf(event);
    point.id = identHash(event.bind) * kMix; // keeps it distinct from flow events with the same number
    point.rowId = rowId;
    point.time = event.time;
    m_result->flows.push_back(point);
}

void EventSink::takeCounter(const Event& event)
{
    if (!hasTime(event))
        return;
    const auto args = event.has(Event::kArgs) ? counterArgs(event.args) : std::nullopt;
    if (!args) {
        m_result->losses.add(Loss::BadArgs, offsetOf(event));
        return;
    }
    std::string name = event.has(Event::kName) ? unescaped(event.name) : "counter";
    if (event.has(Event::kId))
        name += "[" + (event.id.text.data() ? unescaped(event.id.text) : std::to_string(event.id.number)) + "]";
    const std::uint32_t rowId = processRow(event);
    const bool alone = args->count == 1;
    for (const auto& [key, value] : args->numbers) {
        std::string counter = name;
        if (!alone)
            counter.append(": ").append(key);
        const std::uint32_t id = m_names.find(counter, false).id;
        m_result->samples.push_back({id, rowId, {traceTime(event.time), value}, false, false});
    }
    if (args->numbers.size() < args->count)
        m_result->losses.add(Loss::NoNumber, offsetOf(event));
}

void EventSink::takeMetadata(const Event& event)
{
    if (event.has(Event::kName) && event.has(Event::kArgs))
        m_result->metadata.push_back(
            {rowKey(event, RowKind::Host), unescaped(event.name), std::string(event.args), offsetOf(event)});
    else
        m_result->losses.add(Loss::BadArgs, offsetOf(event));
}

} // namespace profiler::formats::json
