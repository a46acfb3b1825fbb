#pragma once

#include "trainer/config/training_config.h"
#include "trainer/precision/grad_scaler.h"
#include "trainer/schedules/schedule.h"

#include <ATen/core/Tensor.h>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace trainer {

class Optimizer;

/// From gradients to new weights: unscales, clips, and lets the optimizer step at the schedule's rate. One thread.
class WeightUpdate {
public:
    /// @param batch  samples of a whole step, over all micro-batches and ranks: what the rate may be scaled by
    /// @param totalSteps  of the training; what schedules stretch over
    WeightUpdate(const config::TrainingConfig& config, std::vector<at::Tensor> parameters, at::Device device,
                 std::int64_t batch, std::int64_t totalSteps);
    ~WeightUpdate();

    /// The loss that the backward pass starts from: multiplied by the scaler's factor where there is a scaler.
    [[nodiscard]] at::Tensor scaled(const at::Tensor& loss) const;
    /// Changes the weights by what is in the parameters' gradients.
    /// @param step  of the training, from 0
    /// @param factor  all gradients are multiplied by it first
    /// @return false when the step was skipped because gradients overflowed
    bool apply(std::int64_t step, double factor);
    /// The rate of a step.
    [[nodiscard]] double learningRate(std::int64_t step) const;
    /// Steps that were skipped so far.
    [[nodiscard]] std::int64_t skipped() const { return m_scaler ? m_scaler->skipped() : 0; }

    /// What a resumed run needs, by name.
    [[nodiscard]] std::vector<std::pair<std::string, at::Tensor>> state() const;
    /// Throws c10::Error when the state is of another optimizer or model.
    void setState(const std::vector<std::pair<std::string, at::Tensor>>& state);

private:
    std::vector<at::Tensor> m_parameters;
    std::unique_ptr<Optimizer> m_optimizer;
    ScheduleKind m_schedule;
    ScheduleOptions m_rates;
    std::optional<GradScaler> m_scaler;
    double m_clipNorm, m_clipValue;
};

} // namespace trainer
