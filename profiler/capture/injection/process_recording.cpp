#include "profiler/capture/injection/process_recording.h"

#include "profiler/capture/fast_clock.h"
#include "profiler/capture/injection/variables.h"
#include "profiler/capture/recorder.h"
#include "profiler/capture/recording_scope.h"
#include "profiler/model/message.h"
#include "profiler/os/files.h"
#include "profiler/os/memory.h"
#include "profiler/os/process.h"
#include "profiler/os/signals.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
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
constexpr std::size_t kMostRead = 4096, kLongestName = 120; // bytes
// What Python runs in a process that multiprocessing spawns: `python -c "from multiprocessing.spawn import …"`.
constexpr std::string_view kSpawned = "from multiprocessing.spawn import";

/// Display name of this process: its program without the folder, and its arguments, truncated if they are long. A
/// process that Python's multiprocessing spawned is called that, since its command line is Python's own.
std::string processName()
{
    std::string line = os::readFile("/proc/self/cmdline", kMostRead).value_or("");
    const bool isSpawned = line.find(kSpawned) != std::string::npos;
    const std::size_t programEnd = std::min(line.find('\0'), line.size());
    if (const std::size_t slash = line.rfind('/', programEnd); slash != std::string::npos && slash < programEnd)
        line.erase(0, slash + 1);
    if (isSpawned)
        return line.substr(0, line.find('\0')) + " (process spawned by multiprocessing)";
    while (!line.empty() && line.back() == '\0')
        line.pop_back();
    std::replace(line.begin(), line.end(), '\0', ' ');
    std::replace_if(
        line.begin(), line.end(), [](unsigned char c) { return c < ' '; }, ' ');
    if (line.size() > kLongestName) {
        // Do not cut in the middle of a UTF-8 character.
        std::size_t end = kLongestName;
        while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xC0) == 0x80)
            --end;
        line.erase(end);
        line += "…";
    }
    return line;
}

/// The part of a run that is recorded, in trace time, which is the same for all processes of a machine.
struct RecordedWindow {
    TraceTime from{};                   ///< default: from the process's first event
    TraceTime until = TraceTime::max(); ///< default: until the process ends
};

TraceTime timeOf(const char* variable, TraceTime other)
{
    const std::string text = setting(variable);
    std::int64_t ns = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ns);
    if (text.empty() || error != std::errc() || end != text.data() + text.size())
        return other;
    return traceTime(ns);
}

/// The trace's clock is the steady clock.
void sleepUntil(TraceTime time)
{
    std::this_thread::sleep_until(std::chrono::steady_clock::time_point(std::chrono::nanoseconds(toNs(time))));
}

/// The window given by STEPSCOPE_FROM and STEPSCOPE_UNTIL; values that are not numbers are ignored.
RecordedWindow recordedWindow()
{
    return {timeOf(variable::kFrom, {}), timeOf(variable::kUntil, TraceTime::max())};
}

/// Calls `then` at that time on a separate thread, which does not receive the program's signals. A process that ends
/// earlier does not wait for it, and a forked child has no such thread.
/// @return false if the thread could not be created
bool callAt(TraceTime time, std::function<void()> then)
{
    const os::BlockedSignals blocked; // signals are meant for the program's own threads
    try {
        std::thread([time, then = std::move(then)] {
            sleepUntil(time);
            stopOnBadAlloc(then);
        }).detach();
    } catch (const std::system_error&) { // thrown by the standard library if no more threads can be created
        return false;
    }
    return true;
}

/// Whether a training loop is in the steps that are recorded.
enum class StepWindow : std::uint8_t { Before, Inside, After };

/// State of a rank that the processes that it forks share with it.
struct SharedWithChildren {
    std::atomic<StepWindow> window{StepWindow::Before};
    std::atomic<std::uint64_t> bytes{0}; ///< written by all of them, see RecorderOptions::usedBytes
};

/// Created on first use, before a loader forks its workers; a process that was started by exec has its own.
SharedWithChildren& sharedWithChildren()
{
    static SharedWithChildren* s_shared = [] {
        // Never unmapped: threads may record until the process has ended. Without such memory, children have their own.
        const auto* memory = new std::optional(os::SharedMapping::anonymous(sizeof(SharedWithChildren)));
        return *memory ? new ((*memory)->data()) SharedWithChildren : new SharedWithChildren;
    }();
    return *s_shared;
}

std::int64_t numberOf(const std::string& text)
{
    std::int64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

/// The limits in the environment, read once. Values that cannot be read are ignored: the command has checked them.
const RecordingLimits& recordingLimits()
{
    static const RecordingLimits* s_limits = [] {
        auto* limits = new RecordingLimits; // never destroyed: outlives every thread
        if (const auto steps = stepRangeOf(setting(variable::kSteps)))
            limits->steps = *steps;
        if (const auto ranks = rankListOf(setting(variable::kRanks)))
            limits->ranks = *ranks;
        limits->maxBytes = static_cast<std::uint64_t>(numberOf(setting(variable::kMaxBytes)));
        static_cast<void>(sharedWithChildren());
        return limits;
    }();
    return *s_limits;
}

/// True if this process is one of the chosen ranks, or not a rank of a job. In a process of any other rank, the first
/// call reports the rank to the command.
bool isChosenRank(const RecordingLimits& limits)
{
    if (limits.ranks.empty())
        return true;
    std::string rank, size;
    for (const auto& [key, value] : rankMetadata()) {
        rank = key == rank_key::kRank ? value : rank;
        size = key == rank_key::kWorldSize ? value : size;
    }
    if (rank.empty() || containsRank(limits.ranks, numberOf(rank)))
        return true;
    const std::string line =
        messageLine(message<"record.rank.not_chosen", "rank {rank} of {ranks} is not recorded (--ranks)">(
            {{"rank", numberOf(rank)}, {"ranks", numberOf(size)}})) +
        '\n';
    if (const os::Descriptor notes = os::openToAppend(setting(variable::kNotes)))
        static_cast<void>(os::writeAll(notes.get(), line)); // the manifest then lacks this rank
    return false;
}

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
