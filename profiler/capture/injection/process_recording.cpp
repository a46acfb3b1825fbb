#include "profiler/capture/injection/process_recording.h"

#include "profiler/capture/fast_clock.h"
#include "profiler/capture/injection/process_name.h"
#include "profiler/capture/injection/recorded_window.h"
#include "profiler/capture/injection/shared_with_children.h"
#include "profiler/capture/injection/variables.h"
#include "profiler/capture/part_recording.h"
#include "profiler/capture/rank_environment.h"
#include "profiler/capture/thread_buffer_pool.h"
#include "profiler/os/files.h"
#include "profiler/os/process.h"

#include <cstdlib>
#include <mutex>
#include <new>
#include <string_view>
#include <utility>

namespace profiler::capture::injection {

std::atomic<std::uint64_t> g_generation{1};

namespace detail {
thread_local constinit CachedThread t_cached __attribute__((tls_model("initial-exec"))){};
}

namespace {

// The program may have many threads, so each ring only holds about a second of busy NVTX use.
constexpr std::size_t kRingEvents = 1 << 15;
constexpr int kMaxThreads = 256;

enum class State { NotAsked, Waiting, Recording, Failed, Ended };

struct Process {
    std::mutex mutex; ///< held while the recording is opened or ended
    State state = State::NotAsked;
    // Not destroyed at its end: a thread may be in a call when the process exits, and a forked child must not touch its
    // parent's recorder.
    Recorder* recorder = nullptr;
    Recorder* previous = nullptr; ///< of the recording before; destroyed when the next one starts
    std::vector<void (*)(Recorder&)> atStart;
    std::vector<void (*)()> atEnd;
    std::vector<std::pair<std::string, std::string>> pendingMetadata; ///< set while waiting for the window
};

Process& process()
{
    static Process* s_process = new Process;
    return *s_process;
}

std::atomic<Recorder*> g_recorder{nullptr};
std::atomic<bool> g_open{false}; ///< an attempt to open the recording was made, successful or not
std::atomic<bool> g_late{false}; ///< opened when its window started, not with the first event

thread_local constinit bool t_ending = false;
ThreadState s_none; ///< for threads whose own state has been destroyed: has no buffer, and is never written to

struct OwnState {
    std::unique_ptr<ThreadState> state = std::make_unique<ThreadState>();
    OwnState() = default;
    OwnState(const OwnState&) = delete;
    OwnState& operator=(const OwnState&) = delete;
    ~OwnState()
    {
        t_ending = true;
        detail::t_cached = {};
    }
};
thread_local OwnState t_owned;

/// A forked child does not touch its parent's recording, and gets its own only when it records something.
void afterForkInChild()
{
    Process& self = process();
    new (&self.mutex) std::mutex; // another thread of the parent may have held it
    if (self.recorder)
        self.recorder->leaveToParent();
    self.state = State::NotAsked;
    self.recorder = self.previous = nullptr;
    g_recorder.store(nullptr);
    self.pendingMetadata.clear();
    g_late.store(false);
    g_open.store(false);
    g_generation.fetch_add(1);
    forgetBuffersOfThisThread();
    FastClock::reset();
}

/// Prints to stderr. Does not allocate.
void printLine(std::string_view line)
{
    constexpr int kStderr = 2;
    static_cast<void>(os::writeAll(kStderr, line)); // a failed write cannot be reported
}

/// Requires the process's mutex.
void open(Process& self)
{
    const std::string trace = setting(variable::kTrace);
    if (trace.empty())
        return;
    self.state = State::Failed; // applies also if memory runs out
    RecorderOptions options{.path = {}, .ringEvents = kRingEvents, .maxThreads = kMaxThreads};
    if (const RecordingLimits& limits = recordingLimits(); limits.maxBytes > 0) {
        options.maxBytes = limits.maxBytes;
        options.usedBytes = &sharedWithChildren().bytes;
        options.onFull = [] { static_cast<void>(callAt(TraceClock::now(), end)); };
    }
    auto made = startPart(trace, std::move(options));
    if (!made) {
        const std::string line = "stepscope: process " + std::to_string(os::processId()) +
                                 " is not recorded: " + made.error().message() + "\n";
        printLine(line);
        return;
    }
    self.state = State::Recording;
    self.recorder = made->recorder.release();
    self.recorder->nameProcess(processName());
    for (const auto& [key, value] : rankMetadata())
        self.recorder->setMetadata(key, value);
    for (const auto& [key, value] : self.pendingMetadata)
        self.recorder->setMetadata(key, value);
    self.pendingMetadata.clear();
    for (const auto what : self.atStart)
        what(*self.recorder);
}

void endRecording()
{
    Process& self = process();
    const std::lock_guard lock(self.mutex);
    const bool recording = self.state == State::Recording;
    self.state = State::Ended;
    g_open.store(true);
    if (!recording)
        return;
    for (const auto what : self.atEnd)
        stopOnBadAlloc(what);
    g_recorder.store(nullptr);
    g_generation.fetch_add(
        1); // from here on, threads find no recorder, but a thread that is in a call may still complete it
    if (const auto finished = self.recorder->finish(); !finished) {
        const std::string line = "stepscope: the trace of process " + std::to_string(os::processId()) +
                                 " is not complete: " + finished.error().message() + "\n";
        printLine(line);
    }
}

/// Starts the window: threads refresh their state, and the first one that records something opens the recording.
void beginWindow()
{
    Process& self = process();
    {
        const std::lock_guard lock(self.mutex);
        if (self.state != State::Waiting)
            return;
        self.state = State::NotAsked;
        g_late.store(true);
        g_open.store(false);
        g_generation.fetch_add(1);
    }
    recorder();
}

/// Opens the recording now or when its window starts. Requires the process's mutex.
void openInWindow(Process& self)
{
    if (!isChosenRank(recordingLimits())) {
        self.state = State::Ended;
        return;
    }
    if (recordingLimits().steps) {
        const StepWindow window = sharedWithChildren().window;
        if (window == StepWindow::Inside)
            open(self);
        else
            self.state = window == StepWindow::Before ? State::Waiting : State::Ended;
        return;
    }
    const RecordedWindow window = recordedWindow();
    const TraceTime now = TraceClock::now();
    if (window.until <= now) {
        self.state = State::Ended;
        return;
    }
    if (window.from > now && !setting(variable::kTrace).empty() && callAt(window.from, beginWindow)) {
        self.state = State::Waiting;
        return;
    }
    open(self);
    if (window.until < TraceTime::max() && self.state == State::Recording)
        callAt(window.until, end);
}

} // namespace

void followForks()
{
    process();
    os::callAtFork(nullptr, nullptr, afterForkInChild);
}

std::string setting(const char* variable)
{
    const char* value = std::getenv(variable);
    return value ? value : "";
}

Recorder* recorder()
{
    if (g_open.load(std::memory_order_acquire))
        return g_recorder.load(std::memory_order_acquire);
    Process& self = process();
    const std::lock_guard lock(self.mutex);
    if (g_open.load())
        return g_recorder.load();
    if (self.state == State::NotAsked)
        openInWindow(self);
    g_recorder.store(self.state == State::Recording ? self.recorder : nullptr);
    g_open.store(true, std::memory_order_release);
    return g_recorder.load();
}

void enterSteps()
{
    sharedWithChildren().window = StepWindow::Inside;
    beginWindow();
}

void leaveSteps()
{
    sharedWithChildren().window = StepWindow::After;
    end();
}

void followSteps()
{
    if (!recordingLimits().steps)
        return;
    const StepWindow window = sharedWithChildren().window;
    if (window == StepWindow::Inside)
        beginWindow();
    else if (window == StepWindow::After)
        end();
}

bool isWaiting()
{
    Process& self = process();
    const std::lock_guard lock(self.mutex);
    return self.state == State::Waiting;
}

bool beganLate()
{
    return g_late.load(std::memory_order_relaxed);
}

void addMetadata(std::string_view key, std::string_view value)
{
    if (Recorder* const to = recorder())
        return to->setMetadata(key, value);
    Process& self = process();
    const std::lock_guard lock(self.mutex);
    if (self.state == State::Waiting)
        self.pendingMetadata.emplace_back(key, value);
}

void end()
{
    stopOnBadAlloc(endRecording);
}

void stopForLackOfMemory() noexcept
{
    if (Recorder* const to = g_recorder.load(std::memory_order_acquire))
        return to->stopForLackOfMemory();
    static std::atomic<bool> s_isReported{false};
    constexpr std::string_view kLine = "stepscope: out of memory: a process is not recorded\n";
    if (!s_isReported.exchange(true))
        printLine(kLine);
}

void restart()
{
    Process& self = process();
    const std::lock_guard lock(self.mutex);
    if (self.state == State::Recording || self.state == State::Waiting)
        return;
    self.state = State::NotAsked;
    // A thread may be in a call that began in the recording that has ended, but not in one of the recording before it.
    delete std::exchange(self.previous, self.recorder);
    self.recorder = nullptr;
    g_recorder.store(nullptr);
    g_open.store(false);
    g_generation.fetch_add(1);
}

void atStart(void (*what)(Recorder&))
{
    Process& self = process();
    const std::lock_guard lock(self.mutex);
    self.atStart.push_back(what);
    if (self.state == State::Recording)
        what(*self.recorder);
}

void atEnd(void (*what)())
{
    Process& self = process();
    const std::lock_guard lock(self.mutex);
    self.atEnd.push_back(what);
}

ThreadState& detail::refreshedThread()
{
    if (t_ending)
        return s_none;
    ThreadState& state = *t_owned.state;
    state = {};
    // Read this before the recorder: if the recording starts or ends in between, the state is refreshed again.
    state.generation = g_generation.load();
    Recorder* const made = recorder();
    state.buffer = made ? &made->thisThread() : nullptr;
    state.recorder = made;
    t_cached = {state.generation, state.buffer ? &state.buffer->inlined() : nullptr, &state};
    return state;
}

} // namespace profiler::capture::injection
