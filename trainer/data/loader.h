#pragma once

#include "profiler/capture/recorder.h"
#include "trainer/data/dataset.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace trainer::data {

/// A sample that could not be loaded and was left out of its batch.
struct BadSample {
    std::int64_t index = 0;
    profiler::Message what; ///< names the file
};

/// Memory of one batch, in one block, so that all of it is pinned when the block is: the samples of each input one
/// after the other, then those of the target. Goes back to the loader's pool when the last Batch that holds it is gone.
struct BatchBuffer {
    std::shared_ptr<void> block;
    std::array<std::byte*, kMostInputs> inputs{}; ///< aligned to cache lines
    std::byte* target = nullptr;
};

/// Samples of one step, as the data set's spec() describes them. Movable; the memory stays valid as long as any copy of
/// `memory` lives.
struct Batch {
    std::shared_ptr<BatchBuffer> memory;
    std::int64_t count = 0; ///< may be below the batch size: last batch, bad samples
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

/// Makes memory for batches, pinned where asked; from the trainer, so that the loader knows no LibTorch.
struct BufferAllocator {
    std::function<std::shared_ptr<void>(std::size_t bytes)> allocate{}; ///< empty: plain aligned memory
    bool pinned = false;
};

struct LoaderOptions {
    Split split = Split::Train;
    std::int64_t batchSize = 1;
    int workers = 0;                ///< 0: next() loads on the calling thread
    int prefetchFactor = 2;         ///< batches in flight per worker
    bool persistentWorkers = false; ///< keep threads between epochs
    bool shuffle = true;
    bool augment = true;
    bool wholeImages = false; ///< with augment: kWholeImage in place of a seed, somebody else augments
    bool shardStreams = true; ///< false: each worker gives the whole of a stream, the mistake to be shown
    std::uint64_t seed = 0;
    int rank = 0,
        ranks = 1;          ///< every `ranks`-th sample of the common order, from the rank's own: processes share a set
    bool equalRanks = true; ///< as many samples for each rank, which leaves some out; false: all of them
    BufferAllocator memory{};
    profiler::capture::Recorder* recorder = nullptr; ///< null: nothing is recorded
    std::function<void()> workerStart{};             ///< on each new worker thread: one intra-op thread
};

/// Batches of an epoch, in the same order with the same content whatever the number of workers: the shuffle depends on
/// (seed, epoch), a sample's augmentation on (seed, epoch, sample index). Used by one thread; workers are its own.
class Loader {
public:
    Loader(std::shared_ptr<const Dataset> dataset, LoaderOptions options);
    /// Cancels and joins.
    ~Loader();

    /// Begins an epoch; an unfinished one is given up, which takes as long as the samples at hand. Starts workers
    /// unless they persist from the epoch before. Throws std::system_error when no thread can be made.
    void startEpoch(std::int64_t epoch);
    /// The next batch in order, waiting for it; nullopt at the epoch's end or after cancel(). Throws what the allocator
    /// or workerStart threw: a batch that has no memory is no bad sample.
    std::optional<Batch> next();
    [[nodiscard]] std::int64_t batchesPerEpoch() const;
    /// Workers finish the sample at hand and wait until unpark(): returns when all of them rest. next() keeps working
    /// on what is ready, then waits for unpark(). Without workers there is nobody to park.
    void park();
    void unpark();
    /// Wakes next() and the workers for good; any thread.
    void cancel();
    /// Most batches that lie ready at once: workers × prefetch factor; 0 without workers.
    [[nodiscard]] std::int64_t capacity() const;

private:
    struct State;
    std::unique_ptr<State> m;
};

} // namespace trainer::data
