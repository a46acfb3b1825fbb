#include "profiler/capture/injection/line_samples.h"

#include "profiler/capture/injection/process_recording.h"
#include "profiler/capture/injection/python_frames.h"
#include "profiler/model/clock.h"
#include "profiler/os/machine.h"
#include "profiler/os/signals.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

namespace profiler::capture::injection {

namespace {

constexpr int kMostFrames = 12; ///< of the user's frames in a stack
constexpr std::size_t kMostStacks = 20'000;
constexpr std::size_t kMostSamples = 80'000;  ///< beyond it, every second sample is dropped and the interval doubled
constexpr std::int64_t kMostRepeated = 2'000; ///< samples of one long operator
constexpr int kOutside = -1;                  ///< stack of a sample without a frame of the user's
constexpr std::size_t kJudged = 20;           ///< samples after which the interval is adjusted
/// Share of one processor. Waking a thread takes 50 µs of it on a quiet machine and 200 µs on a busy virtual one
/// (measured).
constexpr double kMostCost = 0.01;
constexpr std::int64_t kLongestNs = 100'000'000;

std::int64_t now()
{
    return toNs(TraceClock::now());
}

/// Processor time of the calling thread.
std::int64_t threadNs()
{
    return os::threadCpuTime().count();
}

struct Sample {
    std::int64_t ns = 0;
    int stack = kOutside;
    std::int64_t bytes = 0, count = 0; ///< totals of allocations
};

struct StackHash {
    std::size_t operator()(const std::vector<int>& stack) const
    {
        std::size_t hash = stack.size();
        for (const int place : stack)
            hash = hash * 1'000'003 + static_cast<std::size_t>(place);
        return hash;
    }
};

/// What was sampled since the start. The mutex is never held while the interpreter is called.
class Samples {
public:
    explicit Samples(std::int64_t interval) : m_interval(interval), m_shortest(interval) {}

    /// @param ns  from this time on, the thread was at these places, innermost first
    void add(std::int64_t ns, const std::vector<PythonPlace>& places, const std::int64_t (&allocated)[2])
    {
        const std::lock_guard lock(m_mutex);
        std::vector<int> stack;
        for (const PythonPlace& place : places) {
            const auto [known, isNew] = m_numbers.emplace(place, static_cast<int>(m_places.size()));
            if (isNew)
                m_places.push_back(place);
            stack.push_back(known->second);
        }
        m_samples.push_back({ns, numberOf(std::move(stack)), allocated[0], allocated[1]});
        if (m_samples.size() > kMostSamples) {
            std::size_t kept = 0;
            for (std::size_t i = 1; i < m_samples.size(); i += 2)
                m_samples[kept++] = m_samples[i];
            m_samples.resize(kept);
            m_shortest *= 2;
            m_interval = std::max(m_interval, m_shortest);
        }
    }

    /// Adds processor time that sampling took. Samples less often if it costs too much, and at the desired rate if it
    /// costs little. @return the time until the next sample, in ns
    std::int64_t charge(std::int64_t costNs)
    {
        const std::lock_guard lock(m_mutex);
        m_cost += costNs;
        if (++m_charged < kJudged)
            return m_interval;
        const std::int64_t at = now();
        const double share =
            static_cast<double>(m_cost - m_judgedCost) / static_cast<double>(std::max<std::int64_t>(at - m_judged, 1));
        if (share > kMostCost)
            m_interval = std::min(
                kLongestNs, static_cast<std::int64_t>(static_cast<double>(m_interval) * 1.25 * share / kMostCost));
        else if (share < 0.6 * kMostCost)
            m_interval = std::max(m_shortest, m_interval * 4 / 5);
        m_charged = 0;
        m_judged = at;
        m_judgedCost = m_cost;
        return m_interval;
    }

    void clear()
    {
        const std::lock_guard lock(m_mutex);
        m_places = {};
        m_numbers = {};
        m_stacks = {};
        m_stackNumbers = {};
        m_samples = {};
    }

    [[nodiscard]] std::int64_t interval() const
    {
        const std::lock_guard lock(m_mutex);
        return m_interval;
    }

    [[nodiscard]] std::vector<PythonPlace> places() const
    {
        const std::lock_guard lock(m_mutex);
        return m_places;
    }

    /// Members of a JSON object, see lines.py. @return empty: nothing was sampled
    [[nodiscard]] std::string text(bool withAllocations) const
    {
        const std::lock_guard lock(m_mutex);
        if (m_samples.empty())
            return {};
        std::string to = "\"interval_us\":" + std::to_string(m_interval / 1000) +
                         ",\"begin_ns\":" + std::to_string(m_samples.front().ns) +
                         ",\"cost_us\":" + std::to_string(m_cost / 1000) + ",\"stacks\":[";
        const auto comma = [&to] {
            if (to.back() != '[')
                to += ',';
        };
        for (const auto* stack : m_stacks) {
            comma();
            to += '[';
            for (const int place : *stack) {
                comma();
                to += std::to_string(place);
            }
            to += ']';
        }
        to += "],\"samples\":[";
        std::int64_t before = m_samples.front().ns;
        for (const Sample& sample : m_samples) {
            comma();
            to += std::to_string(sample.stack) + ',' + std::to_string((sample.ns - before) / 1000);
            before = sample.ns;
        }
        to += ']';
        if (!withAllocations)
            return to;
        to += ",\"allocated\":[";
        const Sample* last = &m_samples.front();
        for (const Sample& sample : m_samples) {
            comma();
            to += std::to_string(sample.bytes - last->bytes) + ',' + std::to_string(sample.count - last->count);
            last = &sample;
        }
        return to + ']';
    }

private:
    int numberOf(std::vector<int> stack)
    {
        if (stack.empty())
            return kOutside;
        if (const auto known = m_stackNumbers.find(stack); known != m_stackNumbers.end())
            return known->second;
        if (m_stacks.size() >= kMostStacks)
            return kOutside;
        const auto made = m_stackNumbers.emplace(std::move(stack), static_cast<int>(m_stacks.size())).first;
        m_stacks.push_back(&made->first);
        return made->second;
    }

    mutable std::mutex m_mutex;
    std::int64_t m_interval, m_shortest, m_cost = 0, m_judgedCost = 0, m_judged = now();
    std::size_t m_charged = 0;
    std::vector<PythonPlace> m_places;
    std::unordered_map<PythonPlace, int, PythonPlaceHash> m_numbers;
    std::unordered_map<std::vector<int>, int, StackHash> m_stackNumbers;
    std::vector<const std::vector<int>*> m_stacks; ///< keys of m_stackNumbers
    std::vector<Sample> m_samples;
};

/// The sampling of a thread, from its start to its stop.
class Sampling {
public:
    explicit Sampling(const LineSampling& how)
        : m_samples(how.intervalNs), m_totals(how.totals), m_needsGil(how.needsGil)
    {
    }

    UserFrames& frames() { return m_frames; }
    [[nodiscard]] const Samples& samples() const { return m_samples; }
    [[nodiscard]] bool countsAllocations() const { return m_totals != nullptr; }

    /// Samples a thread's frame, with the GIL held.
    /// @param since, until  trace time for which the thread has been there. A reader trusts a sample for only a few
    ///                      intervals, so that a long time has several samples.
    void sample(PythonObject* frame, std::int64_t since, std::int64_t until)
    {
        std::vector<PythonPlace> places;
        m_frames.walk(frame, [&](const PythonPlace& place) {
            places.push_back(place);
            return places.size() < kMostFrames;
        });
        std::int64_t allocated[2] = {};
        if (m_totals)
            m_totals(allocated);
        const std::int64_t between = std::max(4 * m_samples.interval(), (until - since) / kMostRepeated);
        do
            m_samples.add(since, places, allocated);
        while ((since += between) < until);
    }
    std::int64_t charge(std::int64_t costNs) { return m_samples.charge(costNs); }

    /// Requests samples of the main thread. @return false if no thread could be started
    bool startRequests(int (*pending)(void*))
    {
        const os::BlockedSignals blocked; // the program's handlers run on its own threads
        try {
            m_thread = std::thread([this, pending] { request(pending); });
        } catch (const std::system_error&) {
            return false;
        }
        return true;
    }
    /// Also frees what was sampled.
    void stop()
    {
        {
            const std::lock_guard lock(m_mutex);
            m_stops = true;
        }
        m_wake.notify_all();
        if (m_thread.joinable())
            m_thread.join();
        m_samples.clear();
    }

    /// Takes the requested sample, on the main thread.
    void takeRequested()
    {
        const std::int64_t since = m_requested.exchange(0);
        if (since == 0)
            return;
        const std::int64_t begin = now();
        sample(m_frames.python().currentFrame(), since, begin);
        m_taken.fetch_add(now() - begin);
    }

private:
    void request(int (*pending)(void*))
    {
        std::unique_lock lock(m_mutex);
        std::int64_t pause = m_samples.interval(), paid = 0;
        while (!m_wake.wait_for(lock, std::chrono::nanoseconds(pause), [this] { return m_stops; })) {
            if (m_requested.load() == 0) {
                m_requested = now();
                if (m_frames.python().addPendingCall(pending, nullptr) != 0)
                    m_requested = 0; // the interpreter's queue is full
            } else if (m_needsGil) {
                // Until Python 3.13, the main thread looks for requests of other threads only when it acquires or
                // gives up the GIL.
                lock.unlock();
                m_frames.python().release(m_frames.python().ensure());
                lock.lock();
            }
            const std::int64_t cost = threadNs() + m_taken.load();
            pause = stopOnBadAlloc([&] { return charge(cost - std::exchange(paid, cost)); });
        }
    }

    Samples m_samples;
    UserFrames m_frames;
    void (*m_totals)(std::int64_t*);
    bool m_needsGil;
    std::atomic<std::int64_t> m_requested{0}; ///< trace time of the request that is not yet fulfilled; 0: none
    std::atomic<std::int64_t> m_taken{0};     ///< ns that taking samples took
    std::mutex m_mutex;
    std::condition_variable m_wake;
    bool m_stops = false;
    std::thread m_thread;
};

/// Never deleted: the main thread may take a requested sample while another thread stops sampling, and a forked child
/// abandons it.
std::atomic<Sampling*> sampling{nullptr};

int takePending(void*)
{
    stopOnBadAlloc([] {
        if (Sampling* current = sampling)
            current->takeRequested();
    });
    return 0;
}

} // namespace

bool startLineSamples(const LineSampling& how)
{
    if (sampling)
        return false;
    auto made = std::make_unique<Sampling>(how);
    if (!made->frames().find(how.libraries) || (how.isMainThread && !made->startRequests(takePending)))
        return false;
    sampling = made.release();
    return true;
}

std::int64_t sampleLines(void* frame)
{
    Sampling* current = sampling;
    if (!current)
        return kLongestNs;
    const std::int64_t begin = threadNs();
    const std::int64_t at = now();
    current->sample(static_cast<PythonObject*>(frame), at, at);
    // Waking up cost about as much as the sample did.
    return current->charge(2 * (threadNs() - begin));
}

void readLineSamples(void (*place)(void*, int), void (*rest)(const char*))
{
    const Sampling* current = sampling;
    if (!current)
        return;
    const std::string text = current->samples().text(current->countsAllocations());
    if (text.empty())
        return;
    // Places are only added: those of the text are among them.
    for (const PythonPlace& each : current->samples().places())
        place(each.code, each.line);
    rest(text.c_str());
}

void stopLineSamples()
{
    if (Sampling* stopped = sampling.exchange(nullptr))
        stopped->stop();
}

void abandonLineSamples()
{
    sampling = nullptr;
}

} // namespace profiler::capture::injection
