#include "trainer/data/loader.h"

#include "trainer/data/batch_maker.h"
#include "trainer/data/ordered_ring.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>
#include <utility>

namespace trainer::data {

namespace {

using profiler::ActivityKind;
using profiler::capture::ThreadBuffer;

/// A worker's result: a batch, or the exception.
struct Made {
    Batch batch;
    std::exception_ptr failure;
};

/// Records on a worker's track what it waits for.
class WaitRecorder {
public:
    explicit WaitRecorder(ThreadBuffer* buffer) : m_buffer(buffer)
    {
        if (!buffer)
            return;
        m_full = buffer->intern("ring full");
        m_parked = buffer->intern("parked");
        m_noWork = buffer->intern("no work");
    }
    void begin(RingWait wait)
    {
        if (m_buffer)
            m_buffer->open(ActivityKind::LoaderWait, wait == RingWait::Full     ? m_full
                                                     : wait == RingWait::Parked ? m_parked
                                                                                : m_noWork);
    }
    void end()
    {
        if (m_buffer)
            m_buffer->close();
    }

private:
    ThreadBuffer* m_buffer;
    std::uint32_t m_full = 0, m_parked = 0, m_noWork = 0;
};

} // namespace

struct Loader::State {
    State(std::shared_ptr<const Dataset> dataset, LoaderOptions wanted)
        : options(std::move(wanted)), maker(std::move(dataset), options),
          ring(std::max<std::int64_t>(capacity(), 1), options.persistentWorkers)
    {
    }
    ~State() { endWorkers(); }
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    [[nodiscard]] std::int64_t capacity() const
    {
        return std::int64_t{std::max(options.workers, 0)} * std::max(options.prefetchFactor, 1);
    }
    [[nodiscard]] bool hasWorkers() const { return options.workers > 0; }

    void startWorkers();
    void work(int worker);
    void joinWorkers();
    void endWorkers();
    std::optional<Batch> makeHere();
    std::optional<Batch> takeFromWorkers();

    LoaderOptions options;
    BatchMaker maker;
    OrderedRing<Made> ring;
    std::vector<std::thread> threads;
    std::int64_t following = 0, count = 0; ///< without workers: the next batch, and the number of batches in the epoch
    std::atomic<bool> cancelled = false;
};

void Loader::State::startWorkers()
{
    ThreadBuffer* buffer = options.recorder ? &options.recorder->thisThread() : nullptr;
    const profiler::capture::OpenRange range(buffer, ActivityKind::Phase,
                                             buffer ? buffer->intern(profiler::phase::kWorkerStart) : 0);
    for (int worker = 0; worker < options.workers; ++worker)
        threads.emplace_back([this, worker] { work(worker); });
}

void Loader::State::work(int worker)
{
    ThreadBuffer* buffer = options.recorder
                               ? &options.recorder->nameThisThread("loader worker " + std::to_string(worker),
                                                                   profiler::TrackKind::LoaderWorker)
                               : nullptr;
    const StageRecorder stages = stagesOn(buffer);
    WaitRecorder waits(buffer);
    const std::function<bool()> mayContinue = [&] { return ring.mayContinue(waits); };
    std::exception_ptr failure;
    try {
        if (options.workerStart)
            options.workerStart();
    } catch (...) {
        failure = std::current_exception();
    }
    while (const auto number = ring.claim(waits)) {
        Made made{.batch = {}, .failure = failure};
        try {
            if (!failure) {
                auto batch = maker.make(*number, stages, mayContinue);
                if (!batch) {
                    ring.drop();
                    continue;
                }
                made.batch = std::move(*batch);
            }
        } catch (...) {
            made.failure = std::current_exception();
        }
        ring.deliver(*number, std::move(made));
    }
}

void Loader::State::joinWorkers()
{
    for (std::thread& thread : threads)
        thread.join();
    threads.clear();
}

void Loader::State::endWorkers()
{
    ring.cancel();
    joinWorkers();
}

std::optional<Batch> Loader::State::makeHere()
{
    if (cancelled || following >= count)
        return std::nullopt;
    const StageRecorder stages = stagesOn(options.recorder ? &options.recorder->thisThread() : nullptr);
    return maker.make(following++, stages, [this] { return !cancelled; });
}

std::optional<Batch> Loader::State::takeFromWorkers()
{
    auto made = ring.take();
    if (!made) {
        if (!options.persistentWorkers || cancelled)
            joinWorkers();
        return std::nullopt;
    }
    if (made->failure)
        std::rethrow_exception(made->failure);
    return std::move(made->batch);
}

Loader::Loader(std::shared_ptr<const Dataset> dataset, LoaderOptions options)
    : m(std::make_unique<State>(std::move(dataset), std::move(options)))
{
}

Loader::~Loader() = default;

void Loader::startEpoch(std::int64_t epoch)
{
    if (m->cancelled)
        return;
    m->ring.giveUp();
    if (!m->options.persistentWorkers)
        m->joinWorkers();
    m->maker.setEpoch(epoch);
    m->following = 0;
    m->count = m->maker.batches();
    if (!m->hasWorkers())
        return;
    m->ring.begin(m->count);
    if (!m->threads.empty())
        return;
    try {
        m->startWorkers();
    } catch (...) {
        cancel(); // a thread could not be started: the running ones end, and the caller gets the exception
        m->joinWorkers();
        throw;
    }
}

std::optional<Batch> Loader::next()
{
    return m->hasWorkers() ? m->takeFromWorkers() : m->makeHere();
}

std::int64_t Loader::batchesPerEpoch() const
{
    return m->maker.batches();
}

void Loader::park()
{
    if (m->hasWorkers())
        m->ring.park();
}

void Loader::unpark()
{
    m->ring.unpark();
}

void Loader::cancel()
{
    m->cancelled = true;
    m->ring.cancel();
}

std::int64_t Loader::capacity() const
{
    return m->capacity();
}

} // namespace trainer::data
