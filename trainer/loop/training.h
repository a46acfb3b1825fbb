#pragma once

#include "trainer/config/training_config.h"
#include "trainer/data/loader.h"
#include "trainer/hooks/op_hook.h"
#include "trainer/loop/bad_samples.h"
#include "trainer/loop/learner.h"
#include "trainer/loop/meter.h"
#include "trainer/loop/op_window.h"
#include "trainer/loop/progress.h"

#include <functional>
#include <memory>
#include <optional>

namespace trainer {

/// A training and where it stands: model, loaders, epoch and step. What drives it (a run, turns) decides what comes
/// next. One thread.
class Training {
public:
    Training(const config::TrainingConfig& config, std::shared_ptr<const data::Dataset> dataset, at::Device device,
             Recording& recording, Progress& progress);
    ~Training();

    struct Step {
        std::int64_t samples = 0;   ///< 0: all samples of the batch were bad
        double seconds = 0;         ///< from waiting for its data to its end
        std::optional<double> loss; ///< mean since the last read, when this step read it back
        at::Tensor lossOnDevice;    ///< without the graph; undefined for an empty batch
    };
    struct Validation {
        Meter::Means means;
        double seconds = 0;
        std::int64_t samples = 0;
    };

    /// Starts the next epoch.
    void beginEpoch();
    [[nodiscard]] bool epochFinished() const { return m_batchesLeft == 0; }
    /// The next step of the epoch.
    Step step();
    /// Means over the epoch's steps so far; starts counting anew.
    Meter::Means takeMeans();
    /// A pass over the validation samples. `stop` is asked between batches.
    Validation validate(const std::function<bool()>& stop);

    /// Records operators in the next `steps` steps.
    void recordOps(std::int64_t steps) { m_window.request(m_steps, steps); }
    /// Loader workers finish what they are at and wait, and no operators are recorded, until unpark().
    void park();
    void unpark();

    [[nodiscard]] const Learner& learner() const { return m_learner; }
    [[nodiscard]] std::int64_t steps() const { return m_steps; }
    [[nodiscard]] std::int64_t epoch() const { return m_epoch; } ///< of the last step, from 0
    [[nodiscard]] std::int64_t stepsPerEpoch() const { return m_loader.batchesPerEpoch(); }
    [[nodiscard]] bool hasValidation() const { return m_dataset->size(data::Split::Validation) > 0; }

private:
    BatchTensors copyIn(const data::Batch& batch);
    std::optional<double> measure(const Learner::Output& output, std::int64_t samples);
    void setDetailed(bool on);

    std::shared_ptr<const data::Dataset> m_dataset;
    Recording& m_recording;
    std::unique_ptr<OpHook> m_hook; // null when nothing is recorded
    OpWindow m_window;
    Learner m_learner;
    BadSamples m_bad;
    data::Loader m_loader;
    std::unique_ptr<data::Loader> m_validationLoader;
    Meter m_meter;
    std::int64_t m_syncEvery;
    bool m_detailed = false; // operators are being recorded
    std::int64_t m_epoch = -1, m_steps = 0, m_batchesLeft = 0, m_validations = 0;
};

} // namespace trainer
