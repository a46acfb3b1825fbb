#pragma once

#include "trainer/data/batch_pool.h"
#include "trainer/data/dataset.h"
#include "trainer/data/loader.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace trainer::data {

/// The string ids of the stages on a lane; all null without one.
StageRecorder stagesOn(profiler::capture::ThreadBuffer* lane);

/// Which samples make up the batches of an epoch, and how they are made. make() may run on many threads at once;
/// setEpoch() only while none does.
class BatchMaker {
public:
    BatchMaker(std::shared_ptr<const Dataset> dataset, const LoaderOptions& options);

    [[nodiscard]] std::int64_t batches() const;
    void setEpoch(std::int64_t epoch);
    /// @param goOn  asked before each sample; false gives the batch up
    /// @return nullopt when given up. A sample that fails, by an error or by an exception, is left out and listed.
    ///         Throws when there is no memory for the batch.
    std::optional<Batch> make(std::int64_t number, const StageRecorder& stages,
                              const std::function<bool()>& goOn) const;

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
    std::int64_t m_copies;  ///< how often each batch comes: once, but for streams that are not shared out
    bool m_shuffle, m_augment, m_pinned;
    std::uint64_t m_seed;
    std::int64_t m_epoch = 0;
    std::vector<std::int64_t> m_order; ///< empty: as the data set has them
    std::shared_ptr<BatchPool> m_pool;
};

} // namespace trainer::data
