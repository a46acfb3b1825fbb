#include "profiler/formats/pytorch/event_sink.h"
#include "profiler/formats/pytorch/texts.h"
#include "profiler/model/counter_names.h"

#include <xxhash.h>

// Events that are not complete slices. They are rarer, so each may cost more.
namespace profiler::formats::json {

namespace {

std::uint64_t identHash(const Ident& ident)
{
    return ident.text.data() ? XXH3_64bits(ident.text.data(), ident.text.size())
                             : static_cast<std::uint64_t>(ident.number);
}

// Numbers hash to themselves; multiplying by this spreads neighbouring numbers.
constexpr std::uint64_t kMix = 0x9E3779B97F4A7C15ULL;

/// c10::DeviceType of host memory; all other numbers are accelerators.
constexpr std::int64_t kCpu = 0;

} // namespace

void EventSink::takeInstant(const Event& event)
{
    if (!hasTime(event))
        return;
    const Name& name = m_names.find(event.has(Event::kName) ? event.name : std::string_view(""), event.nameOdd);
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
}

void EventSink::takeRangeEnd(const Event& event)
{
    if (!hasTime(event))
        return;
    const bool async = event.phase != 'B' && event.phase != 'E';
    const Name& name = m_names.find(event.has(Event::kName) ? event.name : std::string_view(""), event.nameOdd);
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
    if (!event.has(Event::kArgs) || !m_counterArgs.read(event.args)) {
        m_result->losses.add(Loss::BadArgs, offsetOf(event));
        return;
    }
    std::string name = event.has(Event::kName) ? unescaped(event.name) : "counter";
    if (event.has(Event::kId))
        name += "[" + (event.id.text.data() ? unescaped(event.id.text) : std::to_string(event.id.number)) + "]";
    const std::uint32_t rowId = processRow(event);
    const bool alone = m_counterArgs.count() == 1;
    for (const auto& [key, value] : m_counterArgs.entries()) {
        const std::uint32_t id = m_names.find(alone ? name : name + ": " + std::string(key), false).id;
        m_result->samples.push_back({id, rowId, {traceTime(event.time), value}, false, false});
    }
    if (m_counterArgs.entries().size() < m_counterArgs.count())
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
