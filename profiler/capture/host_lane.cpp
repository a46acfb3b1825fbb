#include "profiler/capture/fast_clock.h"
#include "profiler/capture/host_lane_impl.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <limits>
#include <utility>

namespace profiler::capture {

namespace {

/// One thread writes the number, others look: no need for a locked instruction.
void increment(std::uint64_t& number)
{
    std::atomic_ref shared(number);
    shared.store(shared.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

constexpr std::uint64_t kPrefetch = 8; ///< records ahead

std::uint32_t saturated(std::int64_t bytes)
{
    return static_cast<std::uint32_t>(std::clamp<std::int64_t>(bytes, 0, std::numeric_limits<std::uint32_t>::max()));
}

} // namespace

HostLane::Impl::Impl(StringTable& table, wire::LiveRing::Lane lane, std::uint32_t events)
    : strings(table), header(lane.header ? lane.header : &ownHeader), records(lane.records),
      capacity(lane.header ? events : 0)
{
}

// On the way of every range: the compiler takes them for too large to be inlined by itself.
[[gnu::always_inline]] inline std::int64_t HostLane::Impl::now()
{
    lastNow = std::max(lastNow, FastClock::nowNs());
    return lastNow;
}

[[gnu::always_inline]] inline void HostLane::Impl::put(const wire::EventRecord& record)
{
    if (written - readSeen >= capacity) [[unlikely]] {
        readSeen = std::atomic_ref(header->read).load(std::memory_order_acquire);
        if (written - readSeen >= capacity) {
            increment(header->dropped);
            return;
        }
    }
    records[written & (capacity - 1)] = record;
    ++written;
    // The writer thread's core has these lines: asked for early, they are back when their turn comes.
    __builtin_prefetch(&records[(written + kPrefetch) & (capacity - 1)], 1);
    // The record before the index, for the writer thread as for whoever opens the file after a kill.
    std::atomic_ref(header->written).store(written, std::memory_order_release);
}

[[gnu::always_inline]] inline HostLane::Impl::Range* HostLane::Impl::begin()
{
    if (depth == stack.size()) [[unlikely]] {
        ++tooDeep;
        increment(header->dropped);
        return nullptr;
    }
    return &stack[depth++];
}

[[gnu::always_inline]] inline HostLane::Impl::Range* HostLane::Impl::end()
{
    if (tooDeep > 0) [[unlikely]] {
        --tooDeep;
        return nullptr;
    }
    if (depth == 0) [[unlikely]] {
        countUnmatched();
        return nullptr;
    }
    return &stack[--depth];
}

[[gnu::always_inline]] inline void HostLane::Impl::write(Range& range, std::int64_t end, std::int64_t bytes)
{
    range.record.type = wire::EventType::Slice;
    range.record.end = end;
    if (bytes != 0)
        range.record.bytes = saturated(bytes);
    put(range.record);
}

void HostLane::Impl::countUnmatched()
{
    increment(header->unmatched);
}

void HostLane::Impl::reset()
{
    depth = 0;
    tooDeep = 0;
    byIntervals = false;
    phase.store(0, std::memory_order_relaxed);
    step.store(-1, std::memory_order_relaxed);
}

std::uint32_t HostLane::intern(std::string_view text)
{
    const std::size_t hash = std::hash<std::string_view>{}(text);
    Impl::Cached& first = m->cache[hash % Impl::kCachedStrings & ~std::size_t{1}];
    Impl::Cached& second = *(&first + 1);
    // The text is compared too: two names of one hash must not be taken for each other.
    if (first.hash == hash && first.used && first.text == text)
        return first.id;
    if (second.hash == hash && second.used && second.text == text)
        return second.id;
    const StringTable::Interned interned = m->strings.intern(text);
    second = std::exchange(first, {hash, interned.text, interned.id, true});
    return interned.id;
}

std::uint32_t HostLane::internAt(const char* text)
{
    // Literals lie at least some bytes apart; the low bits tell little.
    const auto address = reinterpret_cast<std::uintptr_t>(text);
    Impl::CachedAt& cached = m->byAddress[(address >> 3 ^ address >> 12) % Impl::kCachedAddresses];
    if (cached.address == text && std::strncmp(text, cached.text.data(), cached.text.size()) == 0 &&
        text[cached.text.size()] == '\0')
        return cached.id;
    const StringTable::Interned interned = m->strings.intern(text);
    cached = {text, interned.text, interned.id};
    return interned.id;
}

void HostLane::nestByIntervals()
{
    m->byIntervals = true;
}

void HostLane::open(ActivityKind kind, std::uint32_t name, std::int64_t value)
{
    const std::uint8_t depth = m->shownDepth();
    if (Impl::Range* const range = m->begin()) {
        *range = {{wire::EventType::Begin, kind, depth, 0, name, m->now(), 0, value, 0, 0}, true};
        m->put(range->record);
        m->publishPlace(kind);
    }
}

HostLane::Place HostLane::Impl::place() const
{
    Place found;
    for (std::size_t i = 0; i < depth; ++i) {
        const wire::EventRecord& record = stack[i].record;
        if (record.kind == ActivityKind::CpuOp && found.op == 0)
            found.op = record.name;
        else if (record.kind == ActivityKind::Phase)
            found.phase = record.name;
        else if (record.kind == ActivityKind::Step)
            found.step = record.link;
    }
    return found;
}

void HostLane::Impl::publishPlace(ActivityKind changed)
{
    if (changed != ActivityKind::Phase && changed != ActivityKind::Step)
        return;
    const Place now = place();
    phase.store(now.phase, std::memory_order_relaxed);
    step.store(now.step, std::memory_order_relaxed);
}

HostLane::Place HostLane::place() const
{
    return m->place();
}

HostLane::Place HostLane::placeFromAfar() const
{
    return {0, m->phase.load(std::memory_order_relaxed), m->step.load(std::memory_order_relaxed)};
}

Nanoseconds HostLane::close(std::int64_t bytes)
{
    const std::int64_t now = m->now();
    Impl::Range* range = m->end();
    // A push() whose pop() never came must not shift all that follows.
    while (range && !range->open) {
        m->countUnmatched();
        range = m->end();
    }
    if (!range)
        return Nanoseconds{0};
    m->write(*range, now, bytes);
    m->publishPlace(range->record.kind);
    return Nanoseconds{now - range->record.begin};
}

void HostLane::push(ActivityKind kind, std::uint32_t name, std::int64_t link, std::uint8_t flags, std::uint32_t detail,
                    std::uint32_t types)
{
    const std::uint8_t depth = m->shownDepth();
    if (Impl::Range* const range = m->begin())
        *range = {{wire::EventType::Slice, kind, depth, flags, name, m->now(), 0, link, types, detail}, false};
}

void HostLane::mark(ActivityKind kind, std::uint32_t name, std::int64_t link, std::uint32_t detail)
{
    const std::int64_t now = m->now();
    m->put({wire::EventType::Slice, kind, m->shownDepth(), 0, name, now, now, link, 0, detail});
}

void HostLane::pop()
{
    const std::int64_t now = m->now();
    if (m->tooDeep == 0 && m->depth > 0 && m->stack[m->depth - 1].open) {
        m->countUnmatched(); // its push() was before the recording, or the open() around it ended
        return;
    }
    if (Impl::Range* const range = m->end())
        m->write(*range, now, 0);
}

void HostLane::complete(ActivityKind kind, std::uint32_t name, TraceTime begin, TraceTime end, std::int64_t link,
                        std::int64_t bytes, std::uint8_t flags)
{
    m->put({wire::EventType::Slice, kind, m->shownDepth(), flags, name, toNs(begin), toNs(end), link, saturated(bytes),
            0});
}

void HostLane::sample(std::uint32_t counter, TraceTime time, double value)
{
    m->put({wire::EventType::Counter, ActivityKind::Other, 0, 0, counter, toNs(time), 0,
            std::bit_cast<std::int64_t>(value), 0, 0});
}

} // namespace profiler::capture
