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

/// The string ids of the stages in a thread buffer; all zero without one.
StageRecorder stagesOn(profiler::capture::ThreadBuffer* buffer);

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

} // namespace trainer::data
