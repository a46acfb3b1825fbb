#pragma once

#include "profiler/capture/recorder.h"
#include "trainer/data/dataset.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

/// Loads the batches of an epoch, on worker threads if wanted, into memory that is reused from batch to batch.
namespace trainer::data {

/// A sample that could not be loaded and was skipped.
struct BadSample {
    std::int64_t index = 0;
    profiler::Message what; ///< includes the file
};

/// Memory of one batch in a single block, so that pinning the block pins everything: the samples of each input one
/// after the other, then those of the target. Returns to the loader's pool when the last Batch that holds it is
/// destroyed.
struct BatchBuffer {
    std::shared_ptr<void> block;
    std::array<std::byte*, kMostInputs> inputs{}; ///< aligned to cache lines
    std::byte* target = nullptr;
};

/// Samples of one step, as described by the dataset's spec(). Movable; the memory stays valid as long as any copy of
/// `memory` exists.
struct Batch {
    std::shared_ptr<BatchBuffer> memory;
    std::int64_t count = 0; ///< may be smaller than the batch size: last batch, bad samples
    std::int64_t index = 0; ///< within the epoch
    bool pinned = false;
    std::vector<BadSample> bad;

    template <class T>
    [[nodiscard]] T* input(std::size_t which = 0) const
    {
        return reinterpret_cast<T*>(memory->inputs[which]);
    }
    template <class T>
    [[nodiscard]] T* target() const
    {
        return reinterpret_cast<T*>(memory->target);
    }
};

/// Allocates memory for batches, pinned if requested; provided by the trainer, so that the loader does not depend on
/// LibTorch.
struct BufferAllocator {
    std::function<std::shared_ptr<void>(std::size_t bytes)> allocate{}; ///< empty: plain aligned memory
    bool pinned = false;
};

/// Reusable buffers of equal size, including the control blocks of their shared pointers: once enough exist, a batch
/// allocates nothing. Thread-safe. A buffer returns to the pool when its last owner releases it; if the pool no longer
/// exists, it is freed.
class BatchPool : public std::enable_shared_from_this<BatchPool> {
public:
    /// @param samples  per batch
    BatchPool(BufferAllocator allocator, const SampleSpec& spec, std::size_t samples);

    /// A used buffer if there is one, otherwise a new one. Rethrows exceptions of the allocator; throws std::bad_alloc
    /// if it returns null.
    std::shared_ptr<BatchBuffer> acquire();

private:
    std::unique_ptr<BatchBuffer> make() const;
    void release(std::unique_ptr<BatchBuffer> buffer) noexcept;

    class Counts;
    template <class T>
    struct CountAllocator;

    BufferAllocator m_allocator;
    std::array<std::size_t, kMostInputs + 1> m_offsets{}; ///< of inputs and target within the block
    std::size_t m_inputs, m_bytes;
    std::shared_ptr<Counts> m_counts;
    std::mutex m_mutex;                               ///< never held while memory is allocated
    std::vector<std::unique_ptr<BatchBuffer>> m_free; ///< last in, first out: it may still be in the cache
};

struct LoaderOptions {
    Split split = Split::Train;
    std::int64_t batchSize = 1;
    int workers = 0;                ///< 0: next() loads on the calling thread
    int prefetchFactor = 2;         ///< batches in flight per worker
    bool persistentWorkers = false; ///< keep threads between epochs
    bool shuffle = true;
    bool augment = true;
    bool wholeImages = false; ///< with augment: kWholeImage instead of a seed; the device augments
    bool shardStreams = true; ///< false: each worker reads the whole stream (a deliberate mistake)
    std::uint64_t seed = 0;
    int rank = 0,
        ranks = 1;          ///< of `ranks` processes, each takes every `ranks`-th sample
    bool equalRanks = true; ///< same number of samples per rank, which skips some; false: all
    BufferAllocator memory{};
    profiler::capture::Recorder* recorder = nullptr; ///< null: nothing is recorded
    std::function<void()> workerStart{};             ///< called on each new worker thread
};

/// Batches of an epoch, in the same order with the same content for any number of workers: the shuffle depends on
/// (seed, epoch), a sample's augmentation on (seed, epoch, sample index). Used by one thread; it owns its workers.
class Loader {
public:
    Loader(std::shared_ptr<const Dataset> dataset, LoaderOptions options);
    /// Cancels and joins the workers.
    ~Loader();

    /// Begins an epoch; abandons an unfinished one, which takes as long as the samples in progress. Starts workers
    /// unless they persist from the previous epoch. Throws std::system_error if a thread cannot be started.
    void startEpoch(std::int64_t epoch);
    /// The next batch in order, waiting for it; nullopt at the epoch's end or after cancel(). Rethrows exceptions of
    /// the allocator or of workerStart: running out of memory is not a bad sample.
    std::optional<Batch> next();
    [[nodiscard]] std::int64_t batchesPerEpoch() const;
    /// Workers finish the current sample and wait until unpark(): returns when all of them are idle. next() still
    /// returns finished batches, then waits for unpark(). Has no effect without workers.
    void park();
    void unpark();
    /// Wakes next() and the workers permanently; any thread.
    void cancel();
    /// Maximum number of finished batches: workers × prefetch factor; 0 without workers.
    [[nodiscard]] std::int64_t capacity() const;

private:
    struct State;
    std::unique_ptr<State> m;
};

/// Fills a batch that has no good sample with zeros, for a rank that other ranks wait for: two samples if the batch
/// size allows, because batch norm needs at least two. Uses separate memory, because the loader's buffer may have room
/// for only one sample.
void dummyBatch(Batch& batch, const SampleSpec& spec, std::int64_t batchSize);

} // namespace trainer::data
