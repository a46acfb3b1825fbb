#include "profiler/capture/injection/nvtx_handlers.h"

#include "profiler/capture/injection/process_recording.h"
#include "profiler/capture/thread_buffer_impl.h"
#include "profiler/os/process.h"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

/// The functions that NVTX calls instead of its empty ones. Ranges of the default domain nest with everything else on
/// their thread's track. Ranges of other domains nest separately, so for each thread they have an additional track.
namespace profiler::capture::injection {

namespace {

/// A string that a program registered; our nvtxStringHandle_t points to it. Never destroyed.
struct RegisteredString {
    explicit RegisteredString(std::string from) : text(std::move(from)) {}
    /// Its id in the recording of this generation; interned again after a fork.
    std::uint32_t id(ThreadBuffer& buffer, std::uint64_t generation)
    {
        const std::uint64_t known = m_idOfGeneration.load(std::memory_order_relaxed);
        return known >> 32 == (generation & 0xFFFFFFFF) ? static_cast<std::uint32_t>(known) : newId(buffer, generation);
    }

    const std::string text;

private:
    std::uint32_t newId(ThreadBuffer& buffer, std::uint64_t generation);

    std::atomic<std::uint64_t> m_idOfGeneration{0}; ///< generation and id, 32 bits each
};

/// A domain; our nvtxDomainHandle_t points to it. Never destroyed.
struct NvtxDomain {
    std::string name;        ///< empty for NVTX's default domain
    std::uint32_t index = 0; ///< 0 for the default domain
};

/// A range that has started but not ended; another thread may end it.
struct StartedRange {
    std::string track;
    std::uint32_t name = 0, detail = 0;
    std::int64_t value = 0, begin = 0;
    std::uint64_t generation = 0;
};

/// Domains, registered strings, category names and started ranges of the process. Thread-safe. The lock is held only
/// for look-ups and insertions, and during a fork.
class NvtxRegistry {
public:
    /// Returns the same domain for the same name.
    NvtxDomain& domain(std::string_view name);
    RegisteredString& string(std::string_view text);
    void nameCategory(const NvtxDomain& domain, std::uint32_t category, std::string_view name);
    [[nodiscard]] std::string category(const NvtxDomain& domain, std::uint32_t category);
    nvtxRangeId_t start(StartedRange range);
    std::optional<StartedRange> end(nvtxRangeId_t id);

    void lock() { m_mutex.lock(); }
    void unlock() { m_mutex.unlock(); }

private:
    std::mutex m_mutex;
    std::deque<NvtxDomain> m_domains;
    std::deque<RegisteredString> m_strings;
    std::map<std::string, RegisteredString*, std::less<>> m_byText;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::string> m_categories; ///< by domain and number
    std::map<nvtxRangeId_t, StartedRange> m_started;
    nvtxRangeId_t m_lastId = 0;
};

std::uint32_t RegisteredString::newId(ThreadBuffer& buffer, std::uint64_t generation)
{
    const std::uint32_t id = buffer.intern(text);
    m_idOfGeneration.store(generation << 32 | id, std::memory_order_relaxed);
    return id;
}

NvtxDomain& NvtxRegistry::domain(std::string_view name)
{
    const std::lock_guard lock(m_mutex);
    const auto known =
        std::find_if(m_domains.begin(), m_domains.end(), [&](const NvtxDomain& domain) { return domain.name == name; });
    if (known != m_domains.end())
        return *known;
    m_domains.push_back({std::string(name), static_cast<std::uint32_t>(m_domains.size()) + 1});
    return m_domains.back();
}

RegisteredString& NvtxRegistry::string(std::string_view text)
{
    const std::lock_guard lock(m_mutex);
    if (const auto known = m_byText.find(text); known != m_byText.end())
        return *known->second;
    RegisteredString& made = m_strings.emplace_back(std::string(text));
    m_byText.emplace(text, &made);
    return made;
}

void NvtxRegistry::nameCategory(const NvtxDomain& domain, std::uint32_t category, std::string_view name)
{
    const std::lock_guard lock(m_mutex);
    m_categories[{domain.index, category}] = name;
}

std::string NvtxRegistry::category(const NvtxDomain& domain, std::uint32_t category)
{
    const std::lock_guard lock(m_mutex);
    const auto named = m_categories.find({domain.index, category});
    return named != m_categories.end() ? named->second : std::to_string(category);
}

nvtxRangeId_t NvtxRegistry::start(StartedRange range)
{
    const std::lock_guard lock(m_mutex);
    m_started.emplace(++m_lastId, std::move(range));
    return m_lastId;
}

std::optional<StartedRange> NvtxRegistry::end(nvtxRangeId_t id)
{
    const std::lock_guard lock(m_mutex);
    const auto started = m_started.find(id);
    if (started == m_started.end())
        return std::nullopt;
    StartedRange range = std::move(started->second);
    m_started.erase(started);
    return range;
}

/// The instance of this process; NVTX's handlers have only handles to pass.
NvtxRegistry& nvtxRegistry()
{
    static NvtxRegistry* s_registry = new NvtxRegistry; // never destroyed: outlives every thread
    return *s_registry;
}

/// What a record stores of the attributes of a range or mark.
struct NvtxText {
    std::uint32_t name = 0, detail = 0;
    std::int64_t value = 0; ///< payload, if it is an integer
};

constexpr std::string_view kUnnamed = "(unnamed)";
// Payloads that are not integers become strings. Their number is limited, so that the loss of every step cannot fill
// the string table.
constexpr std::uint32_t kMostPayloadTexts = 4096;
std::atomic<std::uint32_t> g_payloadTexts{0};

void appendHex(std::string& text, std::uint32_t number, int digits)
{
    for (int shift = (digits - 1) * 4; shift >= 0; shift -= 4)
        text += "0123456789abcdef"[number >> shift & 15];
}

/// "category io · colour #ff8800"
std::string categoryAndColour(const NvtxDomain& domain, const nvtxEventAttributes_t& attributes)
{
    std::string text;
    if (attributes.category != 0)
        text = "category " + nvtxRegistry().category(domain, attributes.category);
    if (attributes.colorType == NVTX_COLOR_ARGB) {
        text += text.empty() ? "colour #" : " · colour #";
        appendHex(text, attributes.color & 0xFFFFFF, 6);
    }
    return text;
}

/// Text for a floating-point payload; empty for integers, which have a separate field.
std::string fractionalPayload(const nvtxEventAttributes_t& attributes)
{
    double value = 0;
    if (attributes.payloadType == NVTX_PAYLOAD_TYPE_DOUBLE)
        value = attributes.payload.dValue;
    else if (attributes.payloadType == NVTX_PAYLOAD_TYPE_FLOAT)
        value = static_cast<double>(attributes.payload.fValue);
    else
        return {};
    if (g_payloadTexts.fetch_add(1, std::memory_order_relaxed) >= kMostPayloadTexts)
        return "payload not recorded: too many different values";
    char digits[32];
    const auto end = std::to_chars(std::begin(digits), std::end(digits), value).ptr;
    return "payload " + std::string(digits, end);
}

std::int64_t wholePayload(const nvtxEventAttributes_t& attributes)
{
    switch (attributes.payloadType) {
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT64:
        return static_cast<std::int64_t>(attributes.payload.ullValue);
    case NVTX_PAYLOAD_TYPE_INT64:
        return attributes.payload.llValue;
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT32:
        return attributes.payload.uiValue;
    case NVTX_PAYLOAD_TYPE_INT32:
        return attributes.payload.iValue;
    default:
        return 0;
    }
}

void appendUtf8(std::string& text, std::uint32_t letter)
{
    if (letter > 0x10FFFF || (letter >= 0xD800 && letter < 0xE000))
        letter = 0xFFFD;
    if (letter < 0x80) {
        text += static_cast<char>(letter);
    } else if (letter < 0x800) {
        text += static_cast<char>(0xC0 | letter >> 6);
        text += static_cast<char>(0x80 | (letter & 63));
    } else if (letter < 0x10000) {
        text += static_cast<char>(0xE0 | letter >> 12);
        text += static_cast<char>(0x80 | (letter >> 6 & 63));
        text += static_cast<char>(0x80 | (letter & 63));
    } else {
        text += static_cast<char>(0xF0 | letter >> 18);
        text += static_cast<char>(0x80 | (letter >> 12 & 63));
        text += static_cast<char>(0x80 | (letter >> 6 & 63));
        text += static_cast<char>(0x80 | (letter & 63));
    }
}

/// Converts a wide string to UTF-8; null becomes "".
std::string utf8(const wchar_t* text)
{
    std::string bytes;
    for (; text && *text; ++text)
        appendUtf8(bytes, static_cast<std::uint32_t>(*text));
    return bytes;
}

std::uint32_t messageId(ThreadState& thread, const nvtxEventAttributes_t& attributes)
{
    ThreadBuffer& buffer = *thread.buffer;
    switch (attributes.messageType) {
    case NVTX_MESSAGE_TYPE_ASCII:
        if (!attributes.message.ascii)
            return buffer.intern(kUnnamed);
        if (const std::uint32_t known = buffer.inlined().known(attributes.message.ascii))
            return known;
        return buffer.internAt(attributes.message.ascii);
    case NVTX_MESSAGE_TYPE_UNICODE:
        return buffer.intern(utf8(attributes.message.unicode));
    case NVTX_MESSAGE_TYPE_REGISTERED:
        if (auto* known = reinterpret_cast<RegisteredString*>(attributes.message.registered))
            return known->id(buffer, thread.generation);
        [[fallthrough]];
    default:
        return buffer.intern(kUnnamed);
    }
}

std::uint32_t detailId(ThreadState& thread, const NvtxDomain& domain, const nvtxEventAttributes_t& attributes)
{
    const bool whole =
        attributes.payloadType != NVTX_PAYLOAD_TYPE_DOUBLE && attributes.payloadType != NVTX_PAYLOAD_TYPE_FLOAT;
    const std::string number = whole ? std::string() : fractionalPayload(attributes);
    const bool coloured = attributes.colorType == NVTX_COLOR_ARGB;
    if (number.empty() && !coloured && attributes.category == 0)
        return 0;
    const std::uint64_t key = (std::uint64_t{attributes.category} << 32 | (attributes.color & 0xFFFFFF)) * 4099 +
                              domain.index * 2 + (coloured ? 1 : 0) + 1;
    if (number.empty() && thread.lastDetail.key == key)
        return thread.lastDetail.text;
    std::string text = categoryAndColour(domain, attributes);
    if (!number.empty()) {
        text += text.empty() ? number : " · " + number;
        return thread.buffer->intern(text);
    }
    thread.lastDetail = {key, thread.buffer->intern(text)};
    return thread.lastDetail.text;
}

/// @param attributes  as passed by a program: null, or shorter (from an older version)
NvtxText readAttributes(ThreadState& thread, const NvtxDomain& domain, const nvtxEventAttributes_t* attributes)
{
    const auto read = [&](const nvtxEventAttributes_t& from) -> NvtxText {
        const bool plain =
            from.category == 0 && from.colorType != NVTX_COLOR_ARGB && from.payloadType == NVTX_PAYLOAD_UNKNOWN;
        if (plain)
            return {messageId(thread, from)};
        return {messageId(thread, from), detailId(thread, domain, from), wholePayload(from)};
    };
    if (attributes && attributes->size >= sizeof *attributes) [[likely]]
        return read(*attributes);
    // Fields that an older header did not have are zero, which means "no type".
    nvtxEventAttributes_t known{};
    if (attributes)
        std::memcpy(&known, attributes, std::min<std::size_t>(attributes->size, sizeof known));
    return read(known);
}

/// An operator, parsed from the name of a LibTorch NVTX range: "aten::mm, seq = 5, op_id = 7, sizes = [[2, 3]]".
struct NvtxOperator {
    std::string_view name; ///< "aten::mm"
    std::int64_t sequence = -1;
    std::string_view shapes; ///< "[[2, 3]]", empty if not recorded
    bool backward = false;   ///< a node of the backward pass
    bool isOperator = false; ///< false for a range named by the program, or a name that is not LibTorch's
};

/// The text after `key`.
std::string_view field(std::string_view text, std::string_view key)
{
    const std::size_t at = text.find(key);
    return at == std::string_view::npos ? std::string_view{} : text.substr(at + key.size());
}

NvtxOperator parseOperator(std::string_view text)
{
    NvtxOperator found;
    const std::size_t end = std::min({text.find(", seq = "), text.find(", op_id = "), text.find(", sizes = ")});
    found.name = text.substr(0, end);
    if (end == std::string_view::npos)
        return found;
    const std::string_view fields = text.substr(end);
    const std::string_view sequence = field(fields, ", seq = ");
    std::from_chars(sequence.data(), sequence.data() + sequence.size(), found.sequence);
    found.shapes = field(fields, ", sizes = ");
    found.shapes = found.shapes.substr(0, found.shapes.find(", input_op_ids"));
    // Autograd nodes have names like AddmmBackward0, ReluBackward0…
    const std::size_t backward = found.name.rfind("Backward");
    found.backward =
        backward != std::string_view::npos &&
        found.name.find_first_not_of("0123456789", backward + std::strlen("Backward")) == std::string_view::npos;
    // A range that the program named through LibTorch (record_function) is usually not a single word:
    // "Optimizer.step#SGD.step".
    found.isOperator = found.backward || found.sequence >= 0 || found.name.find("::") != std::string_view::npos ||
                       std::all_of(found.name.begin(), found.name.end(),
                                   [](unsigned char letter) { return std::isalnum(letter) != 0 || letter == '_'; });
    return found;
}

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
