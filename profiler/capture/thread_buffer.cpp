#include "profiler/capture/thread_buffer.h"

#include "profiler/capture/thread_buffer_impl.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

namespace profiler::capture {

namespace {

/// Far more than corrections of the clock can ever take back.
constexpr std::int64_t kMostAhead = 1'000'000;
// A thread collects its ends with its next operator; if more are pending, they belong to threads that have ended.
constexpr std::size_t kMaxWaitingEnds = 256;

/// One thread writes the number, others only read it, so no locked instruction is needed.
void increment(std::uint64_t& number)
{
    std::atomic_ref shared(number);
    shared.store(shared.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

std::uint32_t saturated(std::int64_t bytes)
{
    return static_cast<std::uint32_t>(std::clamp<std::int64_t>(bytes, 0, std::numeric_limits<std::uint32_t>::max()));
}

} // namespace

ThreadBuffer::Impl::Impl(StringTable& table, CrossThreadRanges& others, container::LiveRing::Lane ringLane,
                         std::uint32_t events)
    : strings(table), crossThreadRanges(others), header(ringLane.header ? ringLane.header : &ownHeader),
      records(ringLane.records), capacity(ringLane.header ? events : 0)
{
}

std::int64_t ThreadBuffer::Impl::now()
{
    const bool another = !clock.isCurrent();
    if (another)
        clock.renew();
    const std::int64_t read = clock.isUsable() ? clock.nowNs() : toNs(TraceClock::now());
    // The counter may keep running while the machine is suspended, but the clock does not. Until the correction, the
    // buffer's time was ahead; it would otherwise stand still for as long as the suspension lasted.
    if (another && lastNow - read > kMostAhead) {
        lastNow = read;
        for (std::size_t i = 0; i < depth; ++i)
            stack[i].begin = std::min(stack[i].begin, read);
    }
    lastNow = std::max(lastNow, read);
    return lastNow;
}

void ThreadBuffer::Impl::put(const Words& record)
{
    if (written - readSeen >= capacity) {
        readSeen = std::atomic_ref(header->read).load(std::memory_order_acquire);
        if (written - readSeen >= capacity)
            return increment(header->dropped);
    }
    putInto(record);
}

ThreadBuffer::Impl::Range* ThreadBuffer::Impl::begin()
{
    if (depth == stack.size()) {
        ++tooDeep;
        increment(header->dropped);
        return nullptr;
    }
    return &stack[depth++];
}

ThreadBuffer::Impl::Range* ThreadBuffer::Impl::end()
{
    if (tooDeep > 0) {
        --tooDeep;
        return nullptr;
    }
    if (depth == 0) {
        countUnmatched();
        return nullptr;
    }
    return &stack[--depth];
}

void ThreadBuffer::Impl::write(const Range& range, std::int64_t end, std::int64_t bytes)
{
    Words record{range.head, range.begin, end, range.link, range.tail};
    record.head = (record.head & ~std::uint64_t{0xFF}) | static_cast<std::uint64_t>(container::EventType::Slice);
    if (bytes != 0)
        record.tail = record.tail >> 32 << 32 | saturated(bytes);
    put(record);
}

void ThreadBuffer::Impl::countUnmatched()
{
    increment(header->unmatched);
}

bool ThreadBuffer::Impl::popOutOfOrder(std::uintptr_t owner, std::int64_t now)
{
    for (std::size_t place = depth; place-- > 0;) {
        if (stack[place].owner == owner) {
            takeOut(place, now);
            return true;
        }
        if (owner == kNobody && stack[place].owner == kOpen)
            return false; // its push() came before the recording, or the open() around it has ended
    }
    return false;
}

void ThreadBuffer::Impl::takeOut(std::size_t place, std::int64_t end)
{
    const Range range = stack[place];
    std::copy(stack.begin() + static_cast<std::ptrdiff_t>(place) + 1,
              stack.begin() + static_cast<std::ptrdiff_t>(depth), stack.begin() + static_cast<std::ptrdiff_t>(place));
    --depth;
    put({range.head, range.begin, end, range.link, range.tail});
}

void ThreadBuffer::Impl::endCrossThreadRanges()
{
    endsSeen = crossThreadRanges.endCount();
    for (std::size_t place = depth; place-- > 0;)
        if (const std::uintptr_t owner = stack[place].owner; owner != kNobody && owner != kOpen)
            if (const auto end = crossThreadRanges.takeEnd(reinterpret_cast<const void*>(owner), stack[place].begin))
                takeOut(place, *end);
}

void ThreadBuffer::Impl::reset()
{
    depth = 0;
    tooDeep = 0;
    depthBits = 0;
    phase.store(0, std::memory_order_relaxed);
    step.store(-1, std::memory_order_relaxed);
}

const ThreadBuffer::Impl::Cached& ThreadBuffer::Impl::cached(std::string_view text)
{
    const std::size_t hash = std::hash<std::string_view>{}(text);
    Cached& first = cache[hash % kCachedStrings & ~std::size_t{1}];
    Cached& second = *(&first + 1);
    // Compare the text too: two names may have the same hash.
    if (first.hash == hash && first.used && first.text == text)
        return first;
    if (second.hash == hash && second.used && second.text == text)
        return second;
    const StringTable::Interned interned = strings.intern(text);
    second = std::exchange(first, {hash, interned.text, interned.id, true});
    return first;
}

std::uint32_t ThreadBuffer::intern(std::string_view text)
{
    return m->cached(text).id;
}

std::uint32_t ThreadBuffer::internAt(const char* text)
{
    // Compare the whole text, because the address may hold a different text now.
    Impl::CachedAt& cached = m->byAddress[m->placeOf(text)];
    if (cached.address == text && std::strncmp(text, cached.text.data(), cached.text.size()) == 0 &&
        text[cached.text.size()] == '\0')
        return cached.id;
    const Impl::Cached& interned = m->cached(text); // most texts that are new at an address are known from another
                                                    // address
    const std::size_t length = std::min(interned.text.size(), cached.start.size());
    cached = {text, (2U << length) - 1, interned.id, {}, interned.text}; // including the terminating zero
    std::copy_n(interned.text.begin(), length, cached.start.begin());
    return interned.id;
}

void ThreadBuffer::nestByIntervals()
{
    m->depthBits = Impl::kDepthByIntervals;
}

void ThreadBuffer::open(ActivityKind kind, std::uint32_t name, std::int64_t value)
{
    const std::uint8_t depth = m->shownDepth();
    if (Impl::Range* const range = m->begin()) {
        *range = {0, value, m->now(), headWord(container::EventType::Begin, kind, depth, 0, name), Impl::kOpen};
        m->put({range->head, range->begin, 0, value, 0});
        m->publishPlace(kind);
    }
}

ThreadBuffer::Place ThreadBuffer::Impl::place() const
{
    Place found;
    for (std::size_t i = 0; i < depth; ++i) {
        const Range& range = stack[i];
        if (range.kind() == ActivityKind::CpuOp && found.op == 0)
            found.op = range.name();
        else if (range.kind() == ActivityKind::Phase)
            found.phase = range.name();
        else if (range.kind() == ActivityKind::Step)
            found.step = range.link;
    }
    return found;
}

void ThreadBuffer::Impl::publishPlace(ActivityKind changed)
{
    if (changed != ActivityKind::Phase && changed != ActivityKind::Step)
        return;
    const Place now = place();
    phase.store(now.phase, std::memory_order_relaxed);
    step.store(now.step, std::memory_order_relaxed);
}

ThreadBuffer::Place ThreadBuffer::place() const
{
    return m->place();
}

ThreadBuffer::Place ThreadBuffer::publishScope() const
{
    return {0, m->phase.load(std::memory_order_relaxed), m->step.load(std::memory_order_relaxed)};
}

Nanoseconds ThreadBuffer::close(std::int64_t bytes)
{
    const std::int64_t now = m->now();
    Impl::Range* range = m->end();
    // A push() without its pop() must not affect later ranges.
    while (range && range->owner != Impl::kOpen) {
        m->countUnmatched();
        range = m->end();
    }
    if (!range)
        return Nanoseconds{0};
    m->write(*range, now, bytes);
    m->publishPlace(range->kind());
    return Nanoseconds{now - range->begin};
}

void ThreadBuffer::push(ActivityKind kind, std::uint32_t name, std::int64_t link, std::uint8_t flags,
                        std::uint32_t detail, std::uint32_t types, const void* owner)
{
    if (m->crossThreadRanges.endCount() != m->endsSeen)
        m->endCrossThreadRanges();
    const std::uint8_t depth = m->shownDepth();
    if (Impl::Range* const range = m->begin()) {
        range->head = headWord(container::EventType::Slice, kind, depth, flags, name);
        range->link = link;
        range->tail = tailWord(types, detail);
        range->owner = reinterpret_cast<std::uintptr_t>(owner);
        range->begin = m->now();
    }
}

void ThreadBuffer::mark(ActivityKind kind, std::uint32_t name, std::int64_t link, std::uint32_t detail)
{
    const std::int64_t now = m->now();
    m->put(
        {headWord(container::EventType::Slice, kind, m->shownDepth(), 0, name), now, now, link, tailWord(0, detail)});
}

void ThreadBuffer::pop()
{
    const std::int64_t now = m->now();
    if (m->tooDeep == 0 && m->depth > 0 && m->stack[m->depth - 1].owner != Impl::kNobody) {
        if (!m->popOutOfOrder(Impl::kNobody, now))
            m->countUnmatched();
        return;
    }
    if (const Impl::Range* const range = m->end())
        m->put({range->head, range->begin, now, range->link, range->tail});
}

bool ThreadBuffer::popOwned(const void* owner)
{
    const std::int64_t now = m->now();
    if (m->tooDeep > 0) { // the innermost range is not on the stack
        --m->tooDeep;
        return true;
    }
    return m->popOutOfOrder(reinterpret_cast<std::uintptr_t>(owner), now);
}

void ThreadBuffer::complete(ActivityKind kind, std::uint32_t name, TraceTime begin, TraceTime end, std::int64_t link,
                            std::int64_t bytes, std::uint8_t flags)
{
    m->put({headWord(container::EventType::Slice, kind, m->shownDepth(), flags, name), toNs(begin), toNs(end), link,
            tailWord(saturated(bytes), 0)});
}

void ThreadBuffer::sample(std::uint32_t counter, TraceTime time, double value)
{
    m->put({headWord(container::EventType::Counter, ActivityKind::Other, 0, 0, counter), toNs(time), 0,
            std::bit_cast<std::int64_t>(value), 0});
}

void CrossThreadRanges::begin(const void* owner, std::uint32_t track, const container::EventRecord& begin)
{
    const std::lock_guard lock(m_mutex);
    m_begun.insert_or_assign(owner, Whole{track, begin});
}

std::optional<CrossThreadRanges::Whole> CrossThreadRanges::end(const void* owner, std::int64_t time)
{
    const std::lock_guard lock(m_mutex);
    if (const auto begun = m_begun.find(owner); begun != m_begun.end()) {
        Whole whole = begun->second;
        m_begun.erase(begun);
        whole.record.type = container::EventType::Slice;
        whole.record.end = time;
        return whole;
    }
    if (m_ended.size() == kMaxWaitingEnds)
        m_ended.erase(m_ended.begin());
    m_ended.push_back({owner, time});
    m_endCount.fetch_add(1, std::memory_order_release);
    return std::nullopt;
}

std::optional<std::int64_t> CrossThreadRanges::takeEnd(const void* owner, std::int64_t begin)
{
    const std::lock_guard lock(m_mutex);
    const auto ended = std::find_if(m_ended.begin(), m_ended.end(),
                                    [&](const End& end) { return end.owner == owner && end.time >= begin; });
    if (ended == m_ended.end())
        return std::nullopt;
    const std::int64_t time = ended->time;
    m_ended.erase(ended);
    return time;
}

namespace {

struct LastUsed {
    std::uint64_t recorder = 0;
    ThreadBuffer* buffer = nullptr;
};
// Trivially destructible, so that they can be read while the thread's other objects are being destroyed.
thread_local constinit LastUsed t_last;
thread_local constinit bool t_ending = false;

struct BuffersOfThread {
    struct Entry {
        std::uint64_t recorder;
        ThreadBuffer* buffer;
        std::weak_ptr<ReleasedBuffers> released;
        bool isMain; ///< returned by bufferOfThisThread()
    };
    std::vector<Entry> entries;

    ~BuffersOfThread()
    {
        t_ending = true;
        t_last = {};
        for (const Entry& entry : entries)
            if (const auto released = entry.released.lock())
                released->release(entry.buffer);
    }
};
thread_local BuffersOfThread t_buffers;

bool remember(BuffersOfThread::Entry entry)
{
    if (t_ending)
        return false;
    // Drop entries of destroyed recorders, so that they do not accumulate in a long-lived thread.
    std::erase_if(t_buffers.entries, [](const BuffersOfThread::Entry& known) { return known.released.expired(); });
    t_buffers.entries.push_back(std::move(entry));
    return true;
}

} // namespace

void ReleasedBuffers::release(ThreadBuffer* buffer)
{
    const std::lock_guard lock(m_mutex);
    try {
        m_buffers.push_back(buffer);
    } catch (const std::bad_alloc&) {
        // The buffer is never reused. The end of a thread must not end the program.
    }
}

bool ReleasedBuffers::take(const ThreadBuffer* buffer)
{
    const std::lock_guard lock(m_mutex);
    return std::erase(m_buffers, buffer) != 0;
}

std::vector<ThreadBuffer*> ReleasedBuffers::list() const
{
    const std::lock_guard lock(m_mutex);
    return m_buffers;
}

ThreadBuffer* bufferOfThisThread(std::uint64_t recorder)
{
    if (t_last.recorder == recorder)
        return t_last.buffer;
    if (t_ending)
        return nullptr;
    for (const BuffersOfThread::Entry& entry : t_buffers.entries)
        if (entry.recorder == recorder && entry.isMain) {
            t_last = {recorder, entry.buffer};
            return entry.buffer;
        }
    return nullptr;
}

bool setBufferOfThisThread(std::uint64_t recorder, ThreadBuffer* buffer, std::weak_ptr<ReleasedBuffers> released)
{
    if (!remember({recorder, buffer, std::move(released), true}))
        return false;
    t_last = {recorder, buffer};
    return true;
}

bool keepBufferForThisThread(std::uint64_t recorder, ThreadBuffer* buffer, std::weak_ptr<ReleasedBuffers> released)
{
    return remember({recorder, buffer, std::move(released), false});
}

void forgetBuffersOfThisThread()
{
    t_last = {};
    if (!t_ending)
        t_buffers.entries.clear();
}

} // namespace profiler::capture
