#pragma once

#include "trainer/config/training_config.h"
#include "trainer/data/loader.h"
#include "trainer/hooks/memory_hook.h"
#include "trainer/hooks/op_hook.h"
#include "trainer/memory/device_batch.h"
#include "trainer/session/progress.h"
#include "trainer/session/recording.h"
#include "trainer/step/metrics.h"
#include "trainer/step/train_step.h"

#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <utility>

namespace trainer {

/// A training and its position: model, loaders, epoch and step. Its caller (a run, or turns) decides what comes next.
/// Single-threaded.
class Training {
public:
    /// @param group  the processes that train together; null: only this one
    Training(const config::TrainingConfig& config, std::shared_ptr<const data::Dataset> dataset, at::Device device,
             std::shared_ptr<ProcessGroup> group, Recording& recording, Progress& progress);
    ~Training();

    struct Step {
        std::int64_t samples = 0; ///< 0: all samples of the batch were bad
        double seconds = 0;       ///< from the start of waiting for data to the end
        double learningRate = 0;
        /// Mean since the last read, if this step reads it back; with host.async_work it arrives later.
        std::shared_future<double> loss;
        at::Tensor lossOnDevice; ///< mean of the step, detached from the graph; undefined for an empty batch
    };
    struct Validation {
        Meter::Means means;
        double seconds = 0;
        std::int64_t samples = 0;
    };

    /// Starts the next epoch; after restore(), continues the saved one.
    void beginEpoch();
    [[nodiscard]] bool epochFinished() const { return m_batchesLeft == 0; }
    /// The next step of the epoch: gradient.accumulation micro-batches, or fewer at the end of the epoch.
    Step step();
    /// Means over the epoch's steps so far, over all ranks; resets the sums.
    Meter::Means takeMeans();
    /// A pass over the validation samples, split between the ranks. `stop` is called between batches.
    Validation validate(const std::function<bool()>& stop);

    /// Records operators in the next `steps` steps.
    void recordOps(std::int64_t steps) { m_window.request(m_steps, steps); }
    /// Loader workers finish their current sample and wait, and no operators are recorded, until unpark().
    void park();
    void unpark();

    [[nodiscard]] const TrainStep& trainStep() const { return m_trainStep; }
    [[nodiscard]] std::int64_t steps() const { return m_steps; }
    [[nodiscard]] std::int64_t samples() const { return m_samples; } ///< trained on so far, in this process
    /// Number of ranks that train together; each trains on the same number of samples.
    [[nodiscard]] std::int64_t ranks() const { return m_group ? m_group->size() : 1; }
    [[nodiscard]] std::int64_t epoch() const { return m_epoch; } ///< of the last step, from 0
    [[nodiscard]] std::int64_t stepsPerEpoch() const;
    [[nodiscard]] bool hasValidation() const { return m_dataset->size(data::Split::Validation) > 0; }

    /// Everything that the next step depends on, except the sums of loss and metric: they are read back later, outside
    /// the step, and addMetrics() adds them. Call it between steps, on all ranks; only the first rank gets the complete
    /// state.
    [[nodiscard]] SavedState save();
    /// Over all ranks, which must all call it.
    [[nodiscard]] std::shared_future<std::vector<double>> metricsState();
    static void addMetrics(SavedState& state, const std::vector<double>& sums);
    /// Call it before the first epoch. Throws std::exception if the state belongs to another training.
    void restore(const SavedState& state);
    /// Whether the state was saved after an epoch's last step: the epoch's means and validation are still due before
    /// the next epoch. True once.
    [[nodiscard]] bool takeEpochEnd() { return std::exchange(m_epochEndDue, false); }

private:
    struct Group {
        Step step;
        at::Tensor loss; // sum over samples
        std::int64_t expected = 0;
        bool begun = false; // at least one sample was trained on
        struct {
            TrainStep::Output output;
            std::int64_t samples = 0;
        } last; ///< of the group's last batch; unset while samples is 0
    };
    std::optional<BatchTensors> nextBatch();
    std::optional<BatchTensors> fetch();
    void fetchAhead();
    void warnOfKnobs();
    void train(const BatchTensors& batch, bool last, Group& group);
    std::shared_future<double> measure(TrainStep::Output output, std::int64_t samples, bool last);
    void takeBatch(const data::Batch& batch, Meter& meter, Validation& result);
    void finish(Group& group);
    [[nodiscard]] double correction(const Group& group) const;
    [[nodiscard]] bool isReadBack() const { return m_syncEvery > 0 && (m_steps + 1) % m_syncEvery == 0; }
    void checkGradientsOf(const BatchTensors& batch);
    void reportBlocks();
    void setDetailed(bool on);
    void saveGenerators(SavedState& state) const;
    void restoreGenerators(const SavedState& state) const;

    const config::TrainingConfig& m_config;
    std::shared_ptr<const data::Dataset> m_dataset;
    Recording& m_recording;
    Progress& m_progress;
    std::unique_ptr<OpHook> m_hook;           // null if nothing or no operators are recorded
    std::unique_ptr<MemoryHook> m_memoryHook; // null unless allocations are recorded
    std::unique_ptr<NvtxOps> m_nvtxOps;       // null without debug.emit_nvtx
    OpWindow m_window;
    data::Loader m_loader;
    TrainStep m_trainStep;
    BadSamples m_bad;
    std::unique_ptr<data::Loader> m_validationLoader;
    DevicePrefetcher m_feed;
    Metrics m_metrics;
    std::shared_ptr<ProcessGroup> m_group;              // null: only this process
    std::optional<std::optional<BatchTensors>> m_ahead; // the next batch, being copied to the device
    std::int64_t m_syncEvery, m_accumulation;
    bool m_detailed = false;     // operators are being recorded
    bool m_gradientsDue = false; // debug.gradcheck: once per epoch
    bool m_blocksReported = false, m_epochEndDue = false;
    std::int64_t m_epoch = -1, m_steps = 0, m_samples = 0, m_batchesLeft = 0, m_validations = 0;
    std::int64_t m_skipBatches = 0; // batches to skip in the epoch that a restored training continues
};

/// Number of steps that the configuration asks for.
std::int64_t plannedSteps(const config::TrainingConfig& config, std::int64_t stepsPerEpoch);

} // namespace trainer
