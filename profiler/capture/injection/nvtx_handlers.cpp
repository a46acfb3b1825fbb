#include "profiler/capture/injection/nvtx_handlers.h"

#include "profiler/capture/injection/nvtx_domains.h"
#include "profiler/capture/injection/nvtx_text.h"
#include "profiler/capture/thread_buffer_impl.h"
#include "profiler/os/process.h"
#include "profiler/os/threads.h"

#include <cstring>

/// The functions that NVTX calls instead of its empty ones. Ranges of the default domain nest with everything else on
/// their thread's track. Ranges of other domains nest separately, so for each thread they have an additional track.
namespace profiler::capture::injection {

namespace {

std::atomic<bool> g_operators{false};
const NvtxDomain kDefault{};

const NvtxDomain& domainOf(nvtxDomainHandle_t handle)
{
    return handle ? *reinterpret_cast<const NvtxDomain*>(handle) : kDefault;
}

[[gnu::noinline]] ThreadState::Domain& newDomainState(ThreadState& thread, const NvtxDomain& domain)
{
    if (thread.domains.size() <= domain.index)
        thread.domains.resize(domain.index + 1);
    ThreadState::Domain& place = thread.domains[domain.index];
    place.buffer = &thread.recorder->addBufferOfThisThread(domain.name + " · thread " + std::to_string(os::threadId()),
                                                           TrackKind::NvtxDomain);
    return place;
}

/// The calling thread's state for a domain other than the default one.
inline ThreadState::Domain& domainState(ThreadState& thread, const NvtxDomain& domain)
{
    if (domain.index < thread.domains.size() && thread.domains[domain.index].buffer) [[likely]]
        return thread.domains[domain.index];
    return newDomainState(thread, domain);
}

void pushOperator(ThreadBuffer& buffer, const char* text)
{
    const NvtxOperator op = parseOperator(text);
    if (!op.isOperator)
        return buffer.push(ActivityKind::Nvtx, buffer.intern(op.name), 0);
    buffer.push(ActivityKind::CpuOp, buffer.intern(op.name), op.sequence, op.backward ? slice_flag::kBackward : 0,
                op.shapes.empty() ? 0 : buffer.intern(op.shapes));
}

/// Slow path, used if the thread's state, its clock or the text has changed since the last call. Not inlined, so that
/// the fast path does not have to save registers.
[[gnu::noinline]] int pushNewText(const char* text)
{
    ThreadState& thread = thisThread();
    if (!thread.buffer)
        return NVTX_NO_PUSH_POP_TRACKING;
    const char* const name = text ? text : "";
    if (g_operators.load(std::memory_order_relaxed))
        pushOperator(*thread.buffer, name);
    else
        thread.buffer->push(ActivityKind::Nvtx, thread.buffer->internAt(name), 0);
    return thread.depth++;
}

int pushText(const char* text)
{
    const std::uint64_t counter = timeStampCounter();
    const detail::CachedThread* const thread = cachedThread();
    if (thread && text && !g_operators.load(std::memory_order_relaxed)) [[likely]] {
        const std::uint32_t name = thread->buffer->known(text);
        if (name != 0 && thread->buffer->tryPush(counter, ActivityKind::Nvtx, name, 0, 0)) [[likely]]
            return thread->state->depth++;
    }
    return pushNewText(text);
}

void pushTo(ThreadBuffer& buffer, std::uint64_t counter, const NvtxText& text)
{
    if (!buffer.inlined().tryPush(counter, ActivityKind::Nvtx, text.name, text.value, text.detail))
        buffer.push(ActivityKind::Nvtx, text.name, text.value, 0, text.detail);
}

int push(nvtxDomainHandle_t handle, const nvtxEventAttributes_t* attributes)
{
    const std::uint64_t counter = timeStampCounter();
    ThreadState& thread = thisThread();
    if (!thread.buffer)
        return NVTX_NO_PUSH_POP_TRACKING;
    const NvtxDomain& domain = domainOf(handle);
    const NvtxText text = readAttributes(thread, domain, attributes);
    if (domain.index == 0) {
        pushTo(*thread.buffer, counter, text);
        return thread.depth++;
    }
    ThreadState::Domain& place = domainState(thread, domain);
    pushTo(*place.buffer, counter, text);
    return place.depth++;
}

int popFrom(ThreadBuffer& buffer, std::uint64_t counter, int& depth)
{
    if (depth == 0) {
        if (!beganLate()) // otherwise, it started before the recording window
            buffer.pop(); // counts an end without a start
        return 0;
    }
    if (!buffer.inlined().tryPop(counter))
        buffer.pop();
    return --depth;
}

[[gnu::noinline]] int pop(nvtxDomainHandle_t handle)
{
    const std::uint64_t counter = timeStampCounter();
    ThreadState& thread = thisThread();
    if (!thread.buffer)
        return NVTX_NO_PUSH_POP_TRACKING;
    const NvtxDomain& domain = domainOf(handle);
    if (domain.index == 0)
        return popFrom(*thread.buffer, counter, thread.depth);
    ThreadState::Domain& place = domainState(thread, domain);
    return popFrom(*place.buffer, counter, place.depth);
}

int popDefault()
{
    const std::uint64_t counter = timeStampCounter();
    const detail::CachedThread* const thread = cachedThread();
    if (thread && thread->state->depth > 0 && thread->buffer->tryPop(counter)) [[likely]]
        return --thread->state->depth;
    return pop(nullptr);
}

void mark(nvtxDomainHandle_t handle, const nvtxEventAttributes_t* attributes)
{
    ThreadState& thread = thisThread();
    if (!thread.buffer)
        return;
    const NvtxDomain& domain = domainOf(handle);
    const NvtxText text = readAttributes(thread, domain, attributes);
    ThreadBuffer& buffer = domain.index == 0 ? *thread.buffer : *domainState(thread, domain).buffer;
    buffer.mark(ActivityKind::Nvtx, text.name, text.value, text.detail);
}

container::EventRecord recordOf(const StartedRange& range, container::EventType type, std::int64_t end)
{
    container::EventRecord record{};
    record.type = type;
    record.kind = ActivityKind::Nvtx;
    record.depth = 255; // ranges of this kind may overlap
    record.name = range.name;
    record.begin = range.begin;
    record.end = end;
    record.link = range.value;
    record.detail = range.detail;
    return record;
}

/// These ranges may end on another thread, so they bypass the rings; a kill loses those that the writer thread has not
/// collected.
nvtxRangeId_t start(nvtxDomainHandle_t handle, const nvtxEventAttributes_t* attributes)
{
    ThreadState& thread = thisThread();
    Recorder* const to = recorder();
    if (!thread.buffer || !to)
        return 0;
    const NvtxDomain& domain = domainOf(handle);
    const NvtxText text = readAttributes(thread, domain, attributes);
    const StartedRange range{.track = domain.name.empty() ? "NVTX ranges" : domain.name + " ranges",
                             .name = text.name,
                             .detail = text.detail,
                             .value = text.value,
                             .begin = toNs(TraceClock::now()),
                             .generation = thread.generation};
    const container::EventRecord begin = recordOf(range, container::EventType::Begin, 0);
    to->addBatch(to->namedTrack(range.track, TrackKind::NvtxDomain), {&begin, 1});
    return nvtxRegistry().start(range);
}

void end(nvtxRangeId_t id)
{
    const ThreadState& thread = thisThread();
    Recorder* const to = recorder();
    if (!thread.buffer || !to)
        return;
    const auto range = nvtxRegistry().end(id);
    if (!range || range->generation != thread.generation) {
        to->countLoss(0, 1);
        return;
    }
    const container::EventRecord whole = recordOf(*range, container::EventType::Slice, toNs(TraceClock::now()));
    to->addBatch(to->namedTrack(range->track, TrackKind::NvtxDomain), {&whole, 1});
}

/// Attributes with only a text.
class TextOnly {
public:
    explicit TextOnly(const char* text)
    {
        fill();
        m_attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
        m_attributes.message.ascii = text;
    }
    explicit TextOnly(const wchar_t* text)
    {
        fill();
        m_attributes.messageType = NVTX_MESSAGE_TYPE_UNICODE;
        m_attributes.message.unicode = text;
    }

    [[nodiscard]] const nvtxEventAttributes_t* get() const { return &m_attributes; }

private:
    void fill()
    {
        m_attributes.version = NVTX_VERSION;
        m_attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    }
    nvtxEventAttributes_t m_attributes{};
};

const char* orEmpty(const char* text)
{
    return text ? text : "";
}

/// Only the calling thread can be named, because each thread owns its buffer.
void nameThread(std::uint32_t tid, std::string_view name)
{
    const ThreadState& thread = thisThread();
    if (thread.buffer && static_cast<int>(tid) == os::threadId())
        thread.recorder->nameThisThread(name,
                                        os::processId() == os::threadId() ? TrackKind::MainThread : TrackKind::Thread);
}

nvtxDomainHandle_t makeDomain(std::string_view name)
{
    return reinterpret_cast<nvtxDomainHandle_t>(&nvtxRegistry().domain(name));
}

nvtxStringHandle_t makeString(std::string_view text)
{
    return reinterpret_cast<nvtxStringHandle_t>(&nvtxRegistry().string(text));
}

/// Converts a lambda without captures to a plain function that calls it.
template <class Handler, class Answer, class... Arguments>
NvtxFunctionPointer plainFunction(Answer (Handler::*)(Arguments...) const)
{
    const auto call =
        +[](Arguments... arguments) -> Answer { return stopOnBadAlloc([&] { return Handler{}(arguments...); }); };
    return reinterpret_cast<NvtxFunctionPointer>(call);
}

template <class Handler>
NvtxFunctionPointer pointerTo(Handler)
{
    return plainFunction(&Handler::operator());
}

struct Handler {
    unsigned id;
    NvtxFunctionPointer function;
};

void attach(NvtxFunctionTable table, unsigned size, std::initializer_list<Handler> handlers)
{
    for (const Handler& handler : handlers)
        if (handler.id < size && table[handler.id]) // the program may contain an older NVTX with fewer functions
            *table[handler.id] = handler.function;
}

void attachCore(NvtxFunctionTable table, unsigned size)
{
    attach(
        table, size,
        {{NVTX_CBID_CORE_MarkEx, pointerTo([](const nvtxEventAttributes_t* event) { mark(nullptr, event); })},
         {NVTX_CBID_CORE_MarkA, pointerTo([](const char* text) { mark(nullptr, TextOnly(text).get()); })},
         {NVTX_CBID_CORE_MarkW, pointerTo([](const wchar_t* text) { mark(nullptr, TextOnly(text).get()); })},
         {NVTX_CBID_CORE_RangeStartEx,
          pointerTo([](const nvtxEventAttributes_t* event) { return start(nullptr, event); })},
         {NVTX_CBID_CORE_RangeStartA, pointerTo([](const char* text) { return start(nullptr, TextOnly(text).get()); })},
         {NVTX_CBID_CORE_RangeStartW,
          pointerTo([](const wchar_t* text) { return start(nullptr, TextOnly(text).get()); })},
         {NVTX_CBID_CORE_RangeEnd, pointerTo([](nvtxRangeId_t id) { end(id); })},
         {NVTX_CBID_CORE_RangePushEx,
          pointerTo([](const nvtxEventAttributes_t* event) { return push(nullptr, event); })},
         {NVTX_CBID_CORE_RangePushA, pointerTo([](const char* text) { return pushText(text); })},
         {NVTX_CBID_CORE_RangePushW,
          pointerTo([](const wchar_t* text) { return push(nullptr, TextOnly(text).get()); })},
         {NVTX_CBID_CORE_RangePop, pointerTo([] { return popDefault(); })},
         {NVTX_CBID_CORE_NameCategoryA, pointerTo([](std::uint32_t category, const char* name) {
              nvtxRegistry().nameCategory(kDefault, category, orEmpty(name));
          })},
         {NVTX_CBID_CORE_NameCategoryW, pointerTo([](std::uint32_t category, const wchar_t* name) {
              nvtxRegistry().nameCategory(kDefault, category, utf8(name));
          })},
         {NVTX_CBID_CORE_NameOsThreadA,
          pointerTo([](std::uint32_t tid, const char* name) { nameThread(tid, orEmpty(name)); })},
         {NVTX_CBID_CORE_NameOsThreadW,
          pointerTo([](std::uint32_t tid, const wchar_t* name) { nameThread(tid, utf8(name)); })}});
}

void attachCore2(NvtxFunctionTable table, unsigned size)
{
    using Event = const nvtxEventAttributes_t*;
    attach(table, size,
           {{NVTX_CBID_CORE2_DomainMarkEx, pointerTo([](nvtxDomainHandle_t in, Event event) { mark(in, event); })},
            {NVTX_CBID_CORE2_DomainRangeStartEx,
             pointerTo([](nvtxDomainHandle_t in, Event event) { return start(in, event); })},
            {NVTX_CBID_CORE2_DomainRangeEnd, pointerTo([](nvtxDomainHandle_t, nvtxRangeId_t id) { end(id); })},
            {NVTX_CBID_CORE2_DomainRangePushEx,
             pointerTo([](nvtxDomainHandle_t in, Event event) { return push(in, event); })},
            {NVTX_CBID_CORE2_DomainRangePop, pointerTo([](nvtxDomainHandle_t in) { return pop(in); })},
            {NVTX_CBID_CORE2_DomainNameCategoryA,
             pointerTo([](nvtxDomainHandle_t in, std::uint32_t category, const char* name) {
                 nvtxRegistry().nameCategory(domainOf(in), category, orEmpty(name));
             })},
            {NVTX_CBID_CORE2_DomainNameCategoryW,
             pointerTo([](nvtxDomainHandle_t in, std::uint32_t category, const wchar_t* name) {
                 nvtxRegistry().nameCategory(domainOf(in), category, utf8(name));
             })},
            {NVTX_CBID_CORE2_DomainRegisterStringA,
             pointerTo([](nvtxDomainHandle_t, const char* text) { return makeString(orEmpty(text)); })},
            {NVTX_CBID_CORE2_DomainRegisterStringW,
             pointerTo([](nvtxDomainHandle_t, const wchar_t* text) { return makeString(utf8(text)); })},
            {NVTX_CBID_CORE2_DomainCreateA, pointerTo([](const char* name) { return makeDomain(orEmpty(name)); })},
            {NVTX_CBID_CORE2_DomainCreateW, pointerTo([](const wchar_t* name) { return makeDomain(utf8(name)); })},
            // A program may create a domain again, and its ranges may still be open, so domains are never destroyed.
            {NVTX_CBID_CORE2_DomainDestroy, pointerTo([](nvtxDomainHandle_t) {})}});
}

} // namespace

bool attachNvtx(NvtxGetExportTableFunc_t exportTable)
{
    const auto* const callbacks = static_cast<const NvtxExportTableCallbacks*>(exportTable(NVTX_ETID_CALLBACKS));
    if (!callbacks || callbacks->struct_size < sizeof *callbacks || !callbacks->GetModuleFunctionTable)
        return false;
    static const int s_forks =
        os::callAtFork([] { nvtxRegistry().lock(); }, [] { nvtxRegistry().unlock(); }, [] { nvtxRegistry().unlock(); });
    NvtxFunctionTable table = nullptr;
    unsigned size = 0;
    if (s_forks != 0 || !callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &size))
        return false;
    attachCore(table, size);
    if (callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size))
        attachCore2(table, size);
    return true;
}

void takeOperatorsFromNvtx(bool take)
{
    g_operators.store(take);
}

} // namespace profiler::capture::injection
