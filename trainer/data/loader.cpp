#include "trainer/data/loader.h"

#include "profiler/model/activity.h"
#include "trainer/data/dataset.h"
#include "trainer/data/ordered_ring.h"
#include "trainer/data/random.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <new>
#include <numeric>
#include <thread>
#include <utility>

namespace trainer::data {

namespace {

using profiler::ActivityKind;
using profiler::capture::ThreadBuffer;

constexpr std::size_t kAlignment = 64; // a cache line, and a good alignment for vector loads

std::shared_ptr<void> alignedMemory(std::size_t bytes)
{
    return {::operator new (bytes, std::align_val_t{kAlignment}),
            [](void* memory) { ::operator delete (memory, std::align_val_t{kAlignment}); }};
}

} // namespace

/// Memory for the control blocks of shared_ptr. They outlive the return of their buffer to the pool by a moment, so
/// they cannot be stored in the buffer.
class BatchPool::Counts {
public:
    static constexpr std::size_t kBytes = 128;

    Counts() = default;
    Counts(const Counts&) = delete;
    Counts& operator=(const Counts&) = delete;
    ~Counts()
    {
        for (void* piece : m_free)
            ::operator delete(piece);
    }
    void* take()
    {
        {
            const std::lock_guard lock(m_mutex);
            if (!m_free.empty()) {
                void* piece = m_free.back();
                m_free.pop_back();
                return piece;
            }
        }
        return ::operator new(kBytes);
    }
    void giveBack(void* piece) noexcept
    {
        try {
            const std::lock_guard lock(m_mutex);
            m_free.push_back(piece);
        } catch (const std::bad_alloc&) {
            ::operator delete(piece);
        }
    }

private:
    std::mutex m_mutex;
    std::vector<void*> m_free;
};

template <class T>
struct BatchPool::CountAllocator {
    using value_type = T;

    explicit CountAllocator(std::shared_ptr<Counts> source) : counts(std::move(source)) {}
    template <class U>
    explicit(false) CountAllocator(const CountAllocator<U>& other) : counts(other.counts)
    {
    }
    T* allocate(std::size_t count)
    {
        static_assert(sizeof(T) <= Counts::kBytes && alignof(T) <= alignof(std::max_align_t));
        if (count != 1)
            throw std::bad_alloc();
        return static_cast<T*>(counts->take());
    }
    void deallocate(T* piece, std::size_t) noexcept
    {
        // The control block that is freed may hold the last reference to this object.
        const std::shared_ptr<Counts> kept = counts;
        kept->giveBack(piece);
    }
    friend bool operator==(const CountAllocator& a, const CountAllocator& b) { return a.counts == b.counts; }

    std::shared_ptr<Counts> counts;
};

BatchPool::BatchPool(BufferAllocator allocator, const SampleSpec& spec, std::size_t samples)
    : m_allocator(std::move(allocator)), m_inputs(spec.inputs.size()), m_bytes(0), m_counts(std::make_shared<Counts>())
{
    if (!m_allocator.allocate)
        m_allocator = {.allocate = alignedMemory, .pinned = false};
    for (std::size_t i = 0; i <= m_inputs; ++i) {
        const ArraySpec& array = i < m_inputs ? spec.inputs[i] : spec.target;
        m_offsets[i] = m_bytes;
        m_bytes += (array.bytes() * samples + kAlignment - 1) / kAlignment * kAlignment;
    }
}

std::unique_ptr<BatchBuffer> BatchPool::make() const
{
    auto buffer = std::make_unique<BatchBuffer>();
    buffer->block = m_allocator.allocate(m_bytes);
    if (!buffer->block)
        throw std::bad_alloc();
    auto* bytes = static_cast<std::byte*>(buffer->block.get());
    for (std::size_t i = 0; i < m_inputs; ++i)
        buffer->inputs[i] = bytes + m_offsets[i];
    buffer->target = bytes + m_offsets[m_inputs];
    return buffer;
}

std::shared_ptr<BatchBuffer> BatchPool::acquire()
{
    std::unique_ptr<BatchBuffer> buffer;
    {
        const std::lock_guard lock(m_mutex);
        if (!m_free.empty()) {
            buffer = std::move(m_free.back());
            m_free.pop_back();
        }
    }
    if (!buffer)
        buffer = make();
    return {buffer.release(),
            [pool = weak_from_this()](BatchBuffer* used) {
                std::unique_ptr<BatchBuffer> returned(used);
                if (const auto alive = pool.lock())
                    alive->release(std::move(returned));
            },
            CountAllocator<BatchBuffer>(m_counts)};
}

void BatchPool::release(std::unique_ptr<BatchBuffer> buffer) noexcept
{
    try {
        const std::lock_guard lock(m_mutex);
        m_free.push_back(std::move(buffer));
    } catch (const std::bad_alloc&) {
        buffer.reset(); // no memory to keep it in the list: it is freed
    }
}

namespace {

/// The string ids of the stages in a thread buffer; all zero without one.
StageRecorder stagesOn(ThreadBuffer* buffer)
{
    if (!buffer)
        return {};
    return {.buffer = buffer,
            .read = buffer->intern(profiler::stage::kRead),
            .decode = buffer->intern(profiler::stage::kDecode),
            .augment = buffer->intern(profiler::stage::kAugment),
            .collate = buffer->intern(profiler::stage::kCollate),
            .pin = buffer->intern(profiler::stage::kPin)};
}

/// Samples of this rank.
std::int64_t samplesOf(const LoaderOptions& options, const Dataset& dataset)
{
    const std::int64_t all = dataset.size(options.split),
                       more = options.equalRanks ? 0 : options.ranks - 1 - options.rank;
    return (all + more) / options.ranks;
}

/// Decides which samples make up the batches of an epoch, and makes them. Many threads may call make() at once;
/// setEpoch() only while none does.
class BatchMaker {
public:
    BatchMaker(std::shared_ptr<const Dataset> dataset, const LoaderOptions& options);

    [[nodiscard]] std::int64_t batches() const;
    void setEpoch(std::int64_t epoch);
    /// @param mayContinue  called before each sample; false abandons the batch
    /// @return nullopt if abandoned. A sample that fails with an error or an exception is skipped and listed.
    ///         Throws if there is no memory for the batch.
    std::optional<Batch> make(std::int64_t number, const StageRecorder& stages,
                              const std::function<bool()>& mayContinue) const;

private:
    [[nodiscard]] std::int64_t sampleAt(std::int64_t position) const;
    [[nodiscard]] std::shared_ptr<BatchBuffer> acquire(std::int64_t number, const StageRecorder& stages) const;
    [[nodiscard]] profiler::Result<void> load(std::int64_t index, const SampleOut& out,
                                              const StageRecorder& stages) const;
    [[nodiscard]] SampleOut place(const Batch& batch, std::int64_t position) const;

    std::shared_ptr<const Dataset> m_dataset;
    Split m_split;
    std::int64_t m_batchSize;
    bool m_whole;
    std::int64_t m_rank, m_ranks;
    std::int64_t m_samples; ///< of this rank
    std::int64_t m_copies;  ///< how often each batch is repeated: once, except for streams that are not sharded
    bool m_shuffle, m_augment, m_pinned;
    std::uint64_t m_seed;
    std::int64_t m_epoch = 0;
    std::vector<std::int64_t> m_order; ///< empty: the dataset's own order
    std::shared_ptr<BatchPool> m_pool;
};

BatchMaker::BatchMaker(std::shared_ptr<const Dataset> dataset, const LoaderOptions& options)
    : m_dataset(std::move(dataset)), m_split(options.split), m_batchSize(std::max<std::int64_t>(options.batchSize, 1)),
      m_whole(options.wholeImages), m_rank(options.rank), m_ranks(options.ranks),
      m_samples(samplesOf(options, *m_dataset)),
      m_copies(m_dataset->isStream() && !options.shardStreams ? std::max(options.workers, 1) : 1),
      m_shuffle(options.shuffle && !m_dataset->isStream()), m_augment(options.augment), m_pinned(options.memory.pinned),
      m_seed(options.seed)
{
    // A batch larger than the dataset needs no more memory than the dataset.
    const auto most = static_cast<std::size_t>(std::min(m_batchSize, std::max<std::int64_t>(m_samples, 1)));
    m_pool = std::make_shared<BatchPool>(options.memory, m_dataset->spec(), most);
}

std::int64_t BatchMaker::batches() const
{
    return (m_samples + m_batchSize - 1) / m_batchSize * m_copies;
}

void BatchMaker::setEpoch(std::int64_t epoch)
{
    m_epoch = epoch;
    if (!m_shuffle)
        return;
    // The order is common to all ranks: each takes its own part.
    m_order.resize(static_cast<std::size_t>(m_dataset->size(m_split)));
    std::iota(m_order.begin(), m_order.end(), std::int64_t{0});
    Random random(orderSeed(m_seed, epoch));
    shuffle(std::span(m_order), random);
}

std::int64_t BatchMaker::sampleAt(std::int64_t position) const
{
    const std::int64_t place = position * m_ranks + m_rank;
    return m_shuffle ? m_order[static_cast<std::size_t>(place)] : place;
}

profiler::Result<void> BatchMaker::load(std::int64_t index, const SampleOut& out, const StageRecorder& stages) const
{
    const auto failed = [](const std::string& why) {
        return profiler::fail<"data.sample.failed", "{why}">(profiler::Error::Code::Io, {}, {}, {{"why", why}});
    };
    try {
        const std::uint64_t seed = !m_augment ? 0 : m_whole ? kWholeImage : sampleSeed(m_seed, m_epoch, index);
        return m_dataset->load(m_split, index, seed, out, stages);
    } catch (const std::exception& thrown) {
        return failed(std::string("the sample could not be loaded: ") + thrown.what());
    } catch (...) {
        return failed("the sample could not be loaded: unknown exception");
    }
}

SampleOut BatchMaker::place(const Batch& batch, std::int64_t position) const
{
    const SampleSpec& spec = m_dataset->spec();
    const auto at = [&](std::byte* first, const ArraySpec& array) {
        const std::size_t bytes = array.bytes();
        return std::span(first + static_cast<std::size_t>(position) * bytes, bytes);
    };
    SampleOut out;
    for (std::size_t i = 0; i < spec.inputs.size(); ++i)
        out.inputs[i] = at(batch.memory->inputs[i], spec.inputs[i]);
    out.target = at(batch.memory->target, spec.target);
    return out;
}

std::shared_ptr<BatchBuffer> BatchMaker::acquire(std::int64_t number, const StageRecorder& stages) const
{
    if (!m_pinned)
        return m_pool->acquire();
    // Samples are decoded directly into page-locked memory: pinning only costs the allocation of that memory, not a
    // copy.
    const StageTimer timer(stages, stages.pin, number);
    return m_pool->acquire();
}

std::optional<Batch> BatchMaker::make(std::int64_t number, const StageRecorder& stages,
                                      const std::function<bool()>& mayContinue) const
{
    Batch batch;
    batch.index = number;
    batch.pinned = m_pinned;
    batch.memory = acquire(number, stages);

    const std::int64_t begin = number / m_copies * m_batchSize;
    const std::int64_t end = std::min(begin + m_batchSize, m_samples);
    for (std::int64_t position = begin; position < end; ++position) {
        if (!mayContinue())
            return std::nullopt;
        const std::int64_t index = sampleAt(position);
        // The next sample overwrites a sample that failed.
        if (const auto loaded = load(index, place(batch, batch.count), stages))
            ++batch.count;
        else
            batch.bad.push_back({index, loaded.error().asMessage()});
    }
    // The samples are already in place, so collating only has to return the batch.
    const StageTimer timer(stages, stages.collate, number);
    return batch;
}

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

void dummyBatch(Batch& batch, const SampleSpec& spec, std::int64_t batchSize)
{
    batch.count = std::min<std::int64_t>(batchSize, 2);
    const auto samples = static_cast<std::size_t>(batch.count);
    batch.memory = std::make_shared<BatchPool>(BufferAllocator(), spec, samples)->acquire();
    batch.pinned = false;
    for (std::size_t i = 0; i < spec.inputs.size(); ++i)
        std::fill_n(batch.memory->inputs[i], samples * spec.inputs[i].bytes(), std::byte{0});
    std::fill_n(batch.memory->target, samples * spec.target.bytes(), std::byte{0});
}

} // namespace trainer::data
