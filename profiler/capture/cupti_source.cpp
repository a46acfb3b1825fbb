#include "profiler/capture/cupti_source.h"

#include "profiler/capture/cupti_api.h"
#include "profiler/capture/cupti_buffers.h"
#include "profiler/capture/cupti_delivery.h"
#include "profiler/capture/cupti_error.h"
#include "profiler/capture/cupti_kinds.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <pthread.h>
#include <stop_token>
#include <system_error>
#include <thread>

namespace profiler::capture {

struct CuptiSource::State {
    State(Recorder& to, const CuptiApi& calls, const CuptiOptions& wanted)
        : api(calls), options(wanted), buffers(wanted.bufferBytes, wanted.buffers, wanted.maxBuffers), recorder(&to),
          decoder(calls, [&to](std::string_view text) { return to.intern(text); }), delivery(to)
    {
    }

    static void CUPTIAPI bufferRequested(std::uint8_t** buffer, std::size_t* size, std::size_t* maxRecords);
    static void CUPTIAPI bufferCompleted(CUcontext context, std::uint32_t stream, std::uint8_t* buffer,
                                         std::size_t size, std::size_t valid);

    Result<void> prepare();
    void startFlushing();
    void flushRegularly(const std::stop_token& stop);
    void endFlushing();
    Result<void> apply(CuptiLevel level);
    void applyCalls(CuptiLevel level);
    /// Puts what failed so far into the trace's notes.
    void tell();
    void detach();
    /// Keeps a status that the recording can do without.
    void note(CUptiResult status, std::string_view doing);
    Result<void> check(CUptiResult status, std::string_view doing);
    void completed(CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t valid);
    void countDropped(CUcontext context, std::uint32_t stream);

    const CuptiApi& api;
    const CuptiOptions options;
    CuptiBuffers buffers;
    CUpti_SubscriberHandle subscriber = nullptr;
    bool registered = false; ///< CUPTI knows our callbacks
    std::vector<CUpti_ActivityKind> enabled;
    std::vector<std::string> notes;
    std::optional<Error> firstError;

    /// Held while a buffer is decoded: CUPTI may hand over two at once. No call into CUPTI is made under it but the
    /// walk through the buffer's records.
    std::mutex decoding;
    Recorder* recorder; ///< null once stopped: what comes later has no place
    CuptiDecoder decoder;
    CuptiDelivery delivery;
    State* before = nullptr;             ///< the state of the source before this one
    CUptiResult flushed = CUPTI_SUCCESS; ///< the flusher's, until it has ended
    std::jthread flusher;
};

namespace {

// CUPTI's callbacks carry no user data.
std::atomic<void*> s_active = nullptr;
std::mutex s_starting;

std::uint64_t CUPTIAPI monotonicNow()
{
    return static_cast<std::uint64_t>(toNs(TraceClock::now()));
}

std::string lines(const std::vector<std::string>& notes)
{
    std::string text;
    for (const std::string& note : notes)
        text += (text.empty() ? "" : "\n") + note;
    return text;
}

/// "13.0": of the library, not of the headers.
std::string versionText(const CuptiApi& api)
{
    std::uint32_t version = 0;
    if (!api.getVersion || api.getVersion(&version) != CUPTI_SUCCESS)
        return "unknown";
    constexpr std::uint32_t kMajor = 10'000, kMinor = 100; // since 13: 130001; before it counted up: 26 is 12.8's
    if (version >= kMajor)
        return std::to_string(version / kMajor) + "." + std::to_string(version % kMajor / kMinor);
    return "12 (interface " + std::to_string(version) + ")";
}

void CUPTIAPI noCallback(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {}

} // namespace

Result<void> CuptiSource::State::check(CUptiResult status, std::string_view doing)
{
    if (status == CUPTI_SUCCESS)
        return {};
    const Error error = cuptiError(api, status, doing);
    if (!firstError)
        firstError = error;
    return tl::unexpected(error);
}

void CuptiSource::State::note(CUptiResult status, std::string_view doing)
{
    if (status == CUPTI_SUCCESS)
        return;
    const std::string text = cuptiError(api, status, doing).message();
    if (std::find(notes.begin(), notes.end(), text) == notes.end())
        notes.push_back(text);
}

/// Subscribes first: only that says whether CUPTI is free. Then all that must come before a kind is enabled.
Result<void> CuptiSource::State::prepare()
{
    std::array<char, CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN + 1> other{};
    CUpti_SubscriberParams params{};
    params.structSize = CUpti_SubscriberParams_STRUCT_SIZE;
    params.subscriberName = "stepscope";
    params.oldSubscriberName = other.data();
    params.oldSubscriberSize = other.size() - 1;
    constexpr std::string_view kStart = "start GPU tracing";
    if (const CUptiResult status = api.subscribe(&subscriber, noCallback, nullptr, &params); status != CUPTI_SUCCESS) {
        subscriber = nullptr;
        return tl::unexpected(cuptiError(api, status, kStart, other.data()));
    }
    note(api.setThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM), "have system thread ids in GPU records");
    std::uint8_t zeroed = 1;
    std::size_t size = sizeof zeroed;
    note(api.setAttribute(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, &size, &zeroed),
         "spare CUPTI zeroing its buffers");
    // With another clock the records could not be placed: not a thing to go on without.
    if (auto done = check(api.registerTimestampCallback(monotonicNow), kStart); !done)
        return done;
    if (auto done = check(api.registerCallbacks(bufferRequested, bufferCompleted), kStart); !done)
        return done;
    registered = true;
    return {};
}

void CuptiSource::State::startFlushing()
{
    if (options.flushEvery <= Nanoseconds{0})
        return;
    // Signals are for the program's own threads: this one inherits a mask that blocks all.
    sigset_t all, mask;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &mask);
    try {
        flusher = std::jthread([this](const std::stop_token& stop) { flushRegularly(stop); });
    } catch (const std::system_error& none) { // the program is at its limit of threads
        notes.push_back(std::string("GPU records are not flushed regularly: ") + none.what());
    }
    pthread_sigmask(SIG_SETMASK, &mask, nullptr);
}

/// What CUPTI flushes of itself are full buffers only (cuptiActivityFlushPeriod() as well): of a thread that launches
/// little, nothing would come before the end.
void CuptiSource::State::flushRegularly(const std::stop_token& stop)
{
    pthread_setname_np(pthread_self(), "GPU records");
    std::mutex waiting;
    std::condition_variable_any wake;
    std::unique_lock lock(waiting);
    while (!wake.wait_for(lock, stop, options.flushEvery, [&] { return stop.stop_requested(); })) {
        flushed = api.flushAll(0);
        if (flushed != CUPTI_SUCCESS)
            return; // told at the end
        countDropped(nullptr, 0);
    }
}

void CuptiSource::State::endFlushing()
{
    if (!flusher.joinable())
        return;
    flusher.request_stop();
    flusher.join();
    note(flushed, "flush GPU records regularly");
}

Result<void> CuptiSource::State::apply(CuptiLevel level)
{
    for (const CuptiKind& kind : cuptiKinds()) {
        const bool wanted = level >= kind.from;
        const auto at = std::find(enabled.begin(), enabled.end(), kind.kind);
        if (wanted == (at != enabled.end()))
            continue;
        if (!wanted) {
            note(api.disable(kind.kind), "stop recording " + std::string(kind.what));
            enabled.erase(at);
            continue;
        }
        if (kind.kind == CUPTI_ACTIVITY_KIND_SYNCHRONIZATION)
            note(api.enableAllSyncRecords(0), "leave out queries that found work unfinished");
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

/// After the kinds, which would undo it.
void CuptiSource::State::applyCalls(CuptiLevel level)
{
    if (level >= CuptiLevel::Standard)
        for (const CUpti_CallbackId call : noisyRuntimeCalls())
            note(api.enableRuntimeApi(call, 0), "leave out runtime calls that only ask");
    if (level == CuptiLevel::Full)
        return;
    for (const CUpti_CallbackId call : workingDriverCalls())
        note(api.enableDriverApi(call, level == CuptiLevel::Standard ? 1 : 0),
             "record launches and waits through the driver");
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
    countDropped(context, stream);
    {
        const std::lock_guard lock(decoding);
        if (recorder) {
            const CuptiRecords records = decoder.decode(buffer, std::min(valid, buffers.bytes()));
            delivery.deliver(records);
            for (void* const owned : records.toFree)
                std::free(owned);
        }
    }
    buffers.giveBack(buffer);
}

void CuptiSource::State::tell()
{
    std::vector<std::string> all = notes;
    if (firstError)
        all.insert(all.begin(), firstError->message());
    if (recorder && !all.empty())
        recorder->setMetadata("gpu.note", lines(all));
}

/// From here on nothing reaches the recorder any more.
void CuptiSource::State::detach()
{
    if (subscriber)
        note(api.unsubscribe(subscriber), "let go of CUPTI");
    subscriber = nullptr;
    tell(); // here, where whoever recorded can still be told; the trace is what lasts
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
    *maxRecords = 0; // as many as fit
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
        static_cast<void>(stop()); // nobody is left to hear of an error
}

Result<std::unique_ptr<CuptiSource>> CuptiSource::start(Recorder& recorder, const CuptiApi& api,
                                                        const CuptiOptions& options)
{
    const std::lock_guard lock(s_starting);
    if (s_active.load())
        return tl::unexpected(Error{Error::Code::Unavailable,
                                    "GPU tracing is on already in this process",
                                    {},
                                    "end the first recording before the next"});
    std::unique_ptr<CuptiSource> source(new CuptiSource);
    auto state = std::make_unique<State>(recorder, api, options);
    source->m = state.get();
    s_active.store(state.get(), std::memory_order_release);
    auto ready = state->prepare();
    if (ready)
        ready = state->apply(options.level);
    recorder.setMetadata("versions.cupti", versionText(api));
    if (const std::string lacks = ready ? lines(state->notes) : ready.error().message(); !lacks.empty())
        recorder.setMetadata("gpu.note", lacks);
    if (!ready)
        static_cast<void>(source->stop()); // takes back what was done; what failed first is what counts
    if (state->registered) {
        // CUPTI may hold buffers of it as long as the process lives, so it does too; the list keeps it reachable.
        static State* s_kept = nullptr;
        state->before = s_kept;
        s_kept = state.release();
    }
    if (!ready) {
        source->m = nullptr;
        return tl::unexpected(ready.error());
    }
    source->m->startFlushing();
    return source;
}

Result<void> CuptiSource::setLevel(CuptiLevel level)
{
    if (auto applied = m->apply(level); !applied)
        return applied;
    return flush();
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
        m->endFlushing();
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
    if (m->firstError)
        return tl::unexpected(*m->firstError);
    return {};
}

const std::vector<std::string>& CuptiSource::notes() const
{
    return m->notes;
}

} // namespace profiler::capture
