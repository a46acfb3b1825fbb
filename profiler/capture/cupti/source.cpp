#include "profiler/capture/cupti/source.h"

#include "profiler/capture/cupti/api.h"
#include "profiler/capture/cupti/delivery.h"
#include "profiler/capture/cupti/vocabulary.h"
#include "profiler/model/clock.h"
#include "profiler/os/process.h"
#include "profiler/os/signals.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <optional>
#include <span>
#include <stop_token>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace profiler::capture {

namespace {

// CUPTI returns a partly filled buffer only if all of its records are complete. That may never happen in a training run
// that always has kernels in flight. Therefore, the number of records per buffer is limited: the limit is low if
// records arrive slowly, and doubles if they arrive fast, so that a live view lags by about one flush period at any
// rate.
constexpr std::size_t kFirstRecordLimit = 256, kLeastRecordLimit = 64;
// Number of consecutive probes without a record (one per flush period) after which another tool is assumed to have
// taken the buffers. With the default period this is two seconds, longer than CUPTI's thread ever keeps a buffer.
constexpr int kMissingProbes = 4;
constexpr std::size_t kAlignment = 64; // CUPTI requires 8; a whole cache line keeps the buffers of two threads apart

/// Zeroed, 8-aligned buffers for CUPTI's records, which are reused. take() takes no lock, and allocates only if more
/// buffers are in use than ever before.
class CuptiBuffers {
public:
    /// @param bytes  size of each buffer
    /// @param ready  number of buffers allocated now
    /// @param most   maximum number of buffers
    CuptiBuffers(std::size_t bytes, std::size_t ready, std::size_t most);
    ~CuptiBuffers();
    CuptiBuffers(const CuptiBuffers&) = delete;
    CuptiBuffers& operator=(const CuptiBuffers&) = delete;

    /// A zeroed buffer, or null if all are in use. Thread-safe.
    std::uint8_t* take();
    /// Takes a buffer back and zeroes it. Ignores pointers to other memory. Thread-safe.
    void giveBack(std::uint8_t* buffer);
    /// When the buffer was taken, in monotonic ns; 0 for a pointer to other memory.
    [[nodiscard]] std::int64_t takenAt(const std::uint8_t* buffer) const;
    [[nodiscard]] std::size_t bytes() const { return m_bytes; }

private:
    struct Slot {
        std::atomic<bool> used = false;
        std::atomic<std::int64_t> taken = 0;         ///< ns
        std::atomic<std::uint8_t*> memory = nullptr; ///< allocated by the first thread that takes the slot
    };
    bool make(Slot& slot) const;

    std::size_t m_bytes;
    std::vector<Slot> m_slots;
};

CuptiBuffers::CuptiBuffers(std::size_t bytes, std::size_t ready, std::size_t most)
    : m_bytes((bytes + kAlignment - 1) / kAlignment * kAlignment), m_slots(most)
{
    for (std::size_t i = 0; i < std::min(ready, most); ++i)
        make(m_slots[i]);
}

CuptiBuffers::~CuptiBuffers()
{
    for (Slot& slot : m_slots)
        std::free(slot.memory.load());
}

bool CuptiBuffers::make(Slot& slot) const
{
    auto* memory = static_cast<std::uint8_t*>(std::aligned_alloc(kAlignment, m_bytes));
    if (memory)
        std::memset(memory, 0, m_bytes);
    slot.memory.store(memory, std::memory_order_release);
    return memory != nullptr;
}

std::uint8_t* CuptiBuffers::take()
{
    for (Slot& slot : m_slots) {
        if (slot.used.exchange(true, std::memory_order_acquire))
            continue;
        if (slot.memory.load(std::memory_order_relaxed) || make(slot)) {
            slot.taken.store(toNs(TraceClock::now()), std::memory_order_relaxed);
            return slot.memory.load(std::memory_order_relaxed);
        }
        slot.used.store(false, std::memory_order_release);
        return nullptr;
    }
    return nullptr;
}

void CuptiBuffers::giveBack(std::uint8_t* buffer)
{
    const auto slot = std::find_if(m_slots.begin(), m_slots.end(), [&](const Slot& candidate) {
        return candidate.memory.load(std::memory_order_acquire) == buffer;
    });
    if (!buffer || slot == m_slots.end())
        return;
    std::memset(buffer, 0, m_bytes);
    slot->used.store(false, std::memory_order_release);
}

std::int64_t CuptiBuffers::takenAt(const std::uint8_t* buffer) const
{
    for (const Slot& slot : m_slots)
        if (buffer && slot.memory.load(std::memory_order_acquire) == buffer)
            return slot.taken.load(std::memory_order_relaxed);
    return 0;
}

} // namespace

struct CuptiSource::State {
    State(Recorder& to, const CuptiApi& calls, const CuptiOptions& wanted)
        : api(calls), options(wanted), buffers(wanted.bufferBytes, wanted.buffers, wanted.maxBuffers), recorder(&to),
          decoder(calls, [&to](std::string_view text) { return to.intern(text); }), delivery(to)
    {
    }

    static void CUPTIAPI bufferRequested(std::uint8_t** buffer, std::size_t* size, std::size_t* maxRecords);
    static void CUPTIAPI bufferCompleted(CUcontext context, std::uint32_t stream, std::uint8_t* buffer,
                                         std::size_t size, std::size_t valid);

    static void CUPTIAPI stateChanged(void* state, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data);

    void takeState(CUpti_CallbackId id, const CUpti_StateData& data);
    Result<void> prepare();
    void startWorker();
    void work(const std::stop_token& stop);
    void serve(const std::stop_token& stop);
    void endWorker();
    Result<void> changeLevel(CuptiLevel level);
    Result<void> apply(CuptiLevel level);
    void applyCalls(CuptiLevel level);
    void flushRegularly();
    void checkOwnership();
    /// Adapts the record limit so that a buffer holds about as many records as arrive in one flush period.
    void adaptBuffers(std::int64_t takenAt, std::uint64_t records);
    /// Adds everything that has failed so far to the trace's notes.
    void report();
    void detach();
    /// Adds a note for a failure that does not prevent the recording.
    void note(CUptiResult status, std::string_view doing);
    void addNote(Message text);
    void setFirstError(const Error& error);
    [[nodiscard]] std::vector<Message> currentNotes();
    Result<void> check(CUptiResult status, std::string_view doing);
    void completed(CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t valid);
    void countDropped(CUcontext context, std::uint32_t stream);
    std::uint64_t decode(std::uint8_t* buffer, std::size_t valid);
    /// Called if memory runs out on our thread or on a CUPTI thread: ends the recording, but not the program.
    void stopForLackOfMemory() noexcept;

    const CuptiApi& api;
    const CuptiOptions options;
    CuptiBuffers buffers;
    CUpti_SubscriberHandle subscriber = nullptr;
    bool registered = false; ///< our callbacks are registered with CUPTI
    std::vector<CUpti_ActivityKind> enabled;
    std::vector<CUpti_CallbackId> noisyCalls,
        driverWork;      ///< the calls of the lists in vocabulary.h that the library knows
    bool probes = false; ///< the library knows kProbeCall

    std::mutex reporting; ///< guards the next two. CUPTI may call back while a note is added, so do not call CUPTI
                          ///< while holding it
    std::vector<Message> notes;
    std::optional<Error> firstError;

    /// Held while a buffer is decoded, because CUPTI may return two at once. While holding it, only CUPTI's iteration
    /// over the buffer's records may be called.
    std::mutex decoding;
    Recorder* recorder; ///< null once stopped: later records are discarded
    CuptiDecoder decoder;
    CuptiDelivery delivery;
    State* before = nullptr; ///< the state of the previous source

    std::atomic<std::size_t> recordLimit = kFirstRecordLimit; ///< maximum number of records in a buffer
    std::atomic<std::uint64_t> probesSeen = 0;
    std::uint64_t probesChecked = 0; ///< value of probesSeen at the last check
    int probesMissing = 0;           ///< number of consecutive checks without a new probe, once one was seen
    bool isTakenOver = false;

    std::mutex waiting; ///< guards wantedLevel
    std::condition_variable_any wake;
    std::optional<CuptiLevel> wantedLevel;
    std::jthread worker; ///< flushes, and changes the level: about a hundred calls that would otherwise delay the
                         ///< program's thread
};

namespace {

// CUPTI's buffer callbacks have no user data.
std::atomic<void*> s_active = nullptr;
std::mutex s_starting;

std::uint64_t CUPTIAPI monotonicNow()
{
    return static_cast<std::uint64_t>(toNs(TraceClock::now()));
}

/// Version of the library (not of the headers): "13.0".
std::string versionText(const CuptiApi& api)
{
    std::uint32_t version = 0;
    if (!api.getVersion || api.getVersion(&version) != CUPTI_SUCCESS)
        return "unknown";
    constexpr std::uint32_t kMajor = 10'000, kMinor = 100; // since 13: 130001; before that, consecutive numbers: 26 is
                                                           // 12.8
    if (version >= kMajor)
        return std::to_string(version / kMajor) + "." + std::to_string(version % kMajor / kMinor);
    return "12 (interface " + std::to_string(version) + ")";
}

std::vector<CUpti_CallbackId> knownOf(const CuptiApi& api, CUpti_CallbackDomain domain,
                                      std::span<const CuptiCall> calls)
{
    std::vector<CUpti_CallbackId> known;
    for (const CuptiCall& call : calls)
        if (isKnown(api, domain, call))
            known.push_back(call.id);
    return known;
}

} // namespace

Result<void> CuptiSource::State::check(CUptiResult status, std::string_view doing)
{
    if (status == CUPTI_SUCCESS)
        return {};
    const Error error = cuptiError(api, status, doing);
    setFirstError(error);
    return tl::unexpected(error);
}

void CuptiSource::State::setFirstError(const Error& error)
{
    const std::lock_guard lock(reporting);
    if (!firstError)
        firstError = error;
}

void CuptiSource::State::addNote(Message text)
{
    const std::lock_guard lock(reporting);
    if (std::find(notes.begin(), notes.end(), text) == notes.end())
        notes.push_back(std::move(text));
}

std::vector<Message> CuptiSource::State::currentNotes()
{
    const std::lock_guard lock(reporting);
    return notes;
}

void CuptiSource::State::note(CUptiResult status, std::string_view doing)
{
    if (status != CUPTI_SUCCESS)
        addNote(cuptiError(api, status, doing).asMessage());
}

/// Called when the state of CUPTI changes. After a fatal error, CUPTI records nothing more, and none of its calls
/// reports that. Runs on any thread, including during our own calls of CUPTI.
void CUPTIAPI CuptiSource::State::stateChanged(void* state, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                               const void* data)
{
    if (domain != CUPTI_CB_DOMAIN_STATE || !data)
        return;
    State& self = *static_cast<State*>(state);
    try {
        self.takeState(id, *static_cast<const CUpti_StateData*>(data));
    } catch (const std::bad_alloc&) {
        self.stopForLackOfMemory();
    }
}

void CuptiSource::State::takeState(CUpti_CallbackId id, const CUpti_StateData& data)
{
    const auto& notification = data.notification;
    const bool isFatal = id == CUPTI_CBID_STATE_FATAL_ERROR;
    Error error =
        cuptiError(api, notification.result, isFatal ? "continue recording the GPU" : "record all of the GPU");
    if (notification.message && *notification.message)
        error.what = message<"cupti.state", "{what} (CUPTI: {said})">(
            {{"what", error.what.text}, {"said", notification.message}, {"error", error.what.id}});
    if (isFatal)
        setFirstError(error);
    else
        addNote(error.asMessage());
}

/// Subscribes first, because only that shows whether CUPTI is free; then makes all calls that must come before a kind
/// is enabled.
Result<void> CuptiSource::State::prepare()
{
    std::array<char, CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN + 1> other{};
    CUpti_SubscriberParams params{};
    params.structSize = CUpti_SubscriberParams_STRUCT_SIZE;
    params.subscriberName = "stepscope";
    params.oldSubscriberName = other.data();
    params.oldSubscriberSize = other.size() - 1;
    constexpr std::string_view kStart = "start GPU tracing";
    if (const CUptiResult status = api.subscribe(&subscriber, stateChanged, this, &params); status != CUPTI_SUCCESS) {
        subscriber = nullptr;
        return tl::unexpected(cuptiError(api, status, kStart, other.data()));
    }
    note(api.enableDomain(1, subscriber, CUPTI_CB_DOMAIN_STATE), "receive CUPTI's own errors");
    note(api.setThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM), "use system thread ids in GPU records");
    std::uint8_t zeroed = 1;
    std::size_t size = sizeof zeroed;
    note(api.setAttribute(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, &size, &zeroed),
         "turn off zeroing of CUPTI's buffers");
    // With a different clock, the records could not be placed in the trace, so this error is fatal.
    if (auto done = check(api.registerTimestampCallback(monotonicNow), kStart); !done)
        return done;
    if (auto done = check(api.registerCallbacks(bufferRequested, bufferCompleted), kStart); !done)
        return done;
    registered = true;
    noisyCalls = knownOf(api, CUPTI_CB_DOMAIN_RUNTIME_API, noisyRuntimeCalls());
    driverWork = knownOf(api, CUPTI_CB_DOMAIN_DRIVER_API, workingDriverCalls());
    probes = api.callDriver && isKnown(api, CUPTI_CB_DOMAIN_DRIVER_API, kProbeCall);
    return {};
}

void CuptiSource::State::startWorker()
{
    if (options.flushEvery <= Nanoseconds{0})
        return;
    const os::BlockedSignals blocked; // signals are meant for the program's own threads
    try {
        worker = std::jthread([this](const std::stop_token& stop) { work(stop); });
    } catch (const std::system_error& none) { // the program has reached its thread limit
        addNote(message<"cupti.no_thread", "GPU records are not flushed regularly: {why}">({{"why", none.what()}}));
    }
}

void CuptiSource::State::work(const std::stop_token& stop)
{
    os::nameThread("GPU records");
    try {
        serve(stop);
    } catch (const std::bad_alloc&) {
        stopForLackOfMemory();
    }
}

void CuptiSource::State::serve(const std::stop_token& stop)
{
    std::unique_lock lock(waiting);
    for (;;) {
        wake.wait_for(lock, stop, options.flushEvery, [&] { return wantedLevel.has_value(); });
        const std::optional<CuptiLevel> level = std::exchange(wantedLevel, std::nullopt);
        if (stop.stop_requested() && !level) // a requested change is still applied, and its error is reported
            return;
        lock.unlock();
        if (level)
            static_cast<void>(changeLevel(*level)); // the error is kept for stop(), or becomes a note
        else
            flushRegularly();
        lock.lock();
    }
}

/// CUPTI by itself flushes only full buffers (cuptiActivityFlushPeriod() does the same): records of a thread that
/// launches little would arrive only at the end. A failed flush does not stop later ones.
void CuptiSource::State::flushRegularly()
{
    if (probes)
        api.callDriver();
    note(api.flushAll(0), "flush GPU records regularly");
    countDropped(nullptr, 0);
    checkOwnership();
}

/// Another tool in the process, such as Kineto in the PyTorch profiler, may register its own callbacks. CUPTI then
/// passes all buffers to that tool without telling us. If our own driver calls were recorded before and no longer are,
/// this has happened.
void CuptiSource::State::checkOwnership()
{
    const std::uint64_t seen = probesSeen.load();
    probesMissing = seen != probesChecked || seen == 0 ? 0 : probesMissing + 1;
    probesChecked = seen;
    if (probesMissing < kMissingProbes || isTakenOver)
        return;
    isTakenOver = true;
    addNote(
        message<"cupti.taken_over",
                "The GPU was recorded for only part of the run: another profiler in the process (such as the PyTorch "
                "profiler's Kineto) took over CUPTI. Record without it.">());
    report();
}

void CuptiSource::State::endWorker()
{
    if (!worker.joinable())
        return;
    worker.request_stop();
    worker.join();
}

Result<void> CuptiSource::State::changeLevel(CuptiLevel level)
{
    if (auto applied = apply(level); !applied)
        return applied;
    auto flushed = check(api.flushAll(0), "flush GPU records");
    countDropped(nullptr, 0);
    return flushed;
}

Result<void> CuptiSource::State::apply(CuptiLevel level)
{
    for (const CuptiKind& kind : cuptiKinds()) {
        const bool wanted = level >= kind.from && level <= kind.to;
        const auto at = std::find(enabled.begin(), enabled.end(), kind.kind);
        if (wanted == (at != enabled.end()))
            continue;
        if (!wanted) {
            note(api.disable(kind.kind), "stop recording " + std::string(kind.what));
            enabled.erase(at);
            continue;
        }
        if (kind.kind == CUPTI_ACTIVITY_KIND_SYNCHRONIZATION)
            note(api.enableAllSyncRecords(0), "exclude queries that found unfinished work");
        const CUptiResult status = api.enable(kind.kind);
        const std::string doing = "record " + std::string(kind.what);
        if (status == CUPTI_SUCCESS)
            enabled.push_back(kind.kind);
        else if (kind.required)
            return check(status, doing);
        else
            note(status, doing);
    }
    applyCalls(level);
    return {};
}

/// Must run after enabling the kinds, which would undo it.
void CuptiSource::State::applyCalls(CuptiLevel level)
{
    if (level >= CuptiLevel::Standard)
        for (const CUpti_CallbackId call : noisyCalls)
            note(api.enableRuntimeApi(call, 0), "exclude runtime calls that only query state");
    if (level == CuptiLevel::Full)
        return;
    if (probes)
        note(api.enableDriverApi(kProbeCall.id, 1), "detect other tools that take over CUPTI");
    for (const CUpti_CallbackId call : driverWork)
        note(api.enableDriverApi(call, level == CuptiLevel::Standard ? 1 : 0),
             "record launches and waits in driver calls");
}

void CuptiSource::State::countDropped(CUcontext context, std::uint32_t stream)
{
    std::size_t dropped = 0;
    if (api.getNumDroppedRecords(context, stream, &dropped) != CUPTI_SUCCESS || dropped == 0)
        return;
    const std::lock_guard lock(decoding);
    if (recorder)
        recorder->countLoss(dropped, 0);
}

void CuptiSource::State::completed(CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t valid)
{
    try {
        countDropped(context, stream);
        adaptBuffers(buffers.takenAt(buffer), decode(buffer, valid));
    } catch (const std::bad_alloc&) {
        stopForLackOfMemory();
    }
    buffers.giveBack(buffer);
}

/// @return number of records in the buffer
std::uint64_t CuptiSource::State::decode(std::uint8_t* buffer, std::size_t valid)
{
    const std::lock_guard lock(decoding);
    if (!recorder)
        return 0;
    const CuptiRecords records = decoder.decode(buffer, std::min(valid, buffers.bytes()));
    delivery.deliver(records);
    probesSeen += records.probes;
    for (void* const owned : records.toFree)
        std::free(owned);
    return records.count;
}

void CuptiSource::State::stopForLackOfMemory() noexcept
{
    const std::lock_guard lock(decoding);
    if (recorder)
        recorder->stopForLackOfMemory();
}

void CuptiSource::State::adaptBuffers(std::int64_t takenAt, std::uint64_t records)
{
    const std::size_t limit = recordLimit.load();
    if (takenAt == 0 || options.flushEvery <= Nanoseconds{0} || records < limit)
        return; // the buffer was not full
    const Nanoseconds filling{toNs(TraceClock::now()) - takenAt};
    const std::size_t most = buffers.bytes() / sizeof(CUpti_ActivityExternalCorrelation);
    if (filling < options.flushEvery / 4)
        recordLimit = std::min(most, 2 * limit);
    else if (filling > options.flushEvery)
        recordLimit = std::max(kLeastRecordLimit, limit / 2);
}

void CuptiSource::State::report()
{
    std::vector<Message> all;
    {
        const std::lock_guard lock(reporting);
        all = notes;
        if (firstError)
            all.insert(all.begin(), firstError->asMessage());
    }
    const std::lock_guard lock(decoding);
    if (recorder && !all.empty())
        recorder->setMetadata("gpu.note", messageLines(all));
}

/// After this call, nothing reaches the recorder any more.
void CuptiSource::State::detach()
{
    if (subscriber)
        note(api.unsubscribe(subscriber), "unsubscribe from CUPTI");
    subscriber = nullptr;
    report();
    const std::lock_guard lock(decoding);
    if (recorder)
        delivery.end();
    recorder = nullptr;
}

void CUPTIAPI CuptiSource::State::bufferRequested(std::uint8_t** buffer, std::size_t* size, std::size_t* maxRecords)
{
    auto* state = static_cast<State*>(s_active.load(std::memory_order_acquire));
    *buffer = state ? state->buffers.take() : nullptr;
    *size = *buffer ? state->buffers.bytes() : 0;
    *maxRecords = state && state->options.flushEvery > Nanoseconds{0} ? state->recordLimit.load() : 0; // 0: no limit
}

void CUPTIAPI CuptiSource::State::bufferCompleted(CUcontext context, std::uint32_t stream, std::uint8_t* buffer,
                                                  std::size_t, std::size_t valid)
{
    if (auto* state = static_cast<State*>(s_active.load(std::memory_order_acquire)))
        state->completed(context, stream, buffer, valid);
}

CuptiSource::CuptiSource() = default;

CuptiSource::~CuptiSource()
{
    if (m)
        static_cast<void>(stop()); // an error cannot be reported from here
}

Result<std::unique_ptr<CuptiSource>> CuptiSource::start(Recorder& recorder, const CuptiApi& api,
                                                        const CuptiOptions& options)
{
    const std::lock_guard lock(s_starting);
    if (s_active.load())
        return fail<"cupti.on_already", "GPU tracing is already running in this process">(
            Error::Code::Unavailable, {}, "end the first recording before starting another");
    std::unique_ptr<CuptiSource> source(new CuptiSource);
    auto state = std::make_unique<State>(recorder, api, options);
    source->m = state.get();
    s_active.store(state.get(), std::memory_order_release);
    auto ready = state->prepare();
    if (ready)
        ready = state->apply(options.level);
    recorder.setMetadata("versions.cupti", versionText(api));
    if (const std::string lacks = ready ? messageLines(state->currentNotes()) : messageLine(ready.error().asMessage());
        !lacks.empty())
        recorder.setMetadata("gpu.note", lacks);
    if (!ready)
        static_cast<void>(source->stop()); // undoes what was done; the first failure is the one to report
    if (state->registered) {
        // CUPTI may keep buffers of this state until the process ends, so the state is never freed; the list keeps it
        // reachable.
        static State* s_kept = nullptr;
        state->before = s_kept;
        s_kept = state.release();
    }
    if (!ready) {
        source->m = nullptr;
        return tl::unexpected(ready.error());
    }
    source->m->startWorker();
    return source;
}

Result<void> CuptiSource::setLevel(CuptiLevel level)
{
    if (!m->worker.joinable())
        return m->changeLevel(level);
    {
        const std::lock_guard lock(m->waiting);
        m->wantedLevel = level;
    }
    m->wake.notify_one();
    return {};
}

Result<void> CuptiSource::flush()
{
    auto flushed = m->check(m->api.flushAll(0), "flush GPU records");
    m->countDropped(nullptr, 0);
    return flushed;
}

Result<void> CuptiSource::stop()
{
    if (s_active.load() == m) {
        m->endWorker();
        for (const CUpti_ActivityKind kind : m->enabled)
            m->note(m->api.disable(kind), "stop recording");
        m->enabled.clear();
        if (m->subscriber) {
            static_cast<void>(m->check(m->api.flushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED), "flush GPU records"));
            m->countDropped(nullptr, 0);
        }
        m->detach();
        s_active.store(nullptr, std::memory_order_release);
    }
    const std::lock_guard lock(m->reporting);
    if (m->firstError)
        return tl::unexpected(*m->firstError);
    return {};
}

std::vector<Message> CuptiSource::notes() const
{
    return m->currentNotes();
}

} // namespace profiler::capture
