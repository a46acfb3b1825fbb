#pragma once

#include "trainer/config/training_config.h"
#include "trainer/precision/mixed_precision.h"
#include "trainer/schedules/schedule.h"

#include <ATen/core/Tensor.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace trainer {

class Optimizer;

/// Updates weights from gradients: unscales, clips, and runs the optimizer step with the schedule's learning rate.
/// Single-threaded.
class WeightUpdate {
public:
    /// @param batch  samples of a whole step, over all micro-batches and ranks, for scaling the learning rate
    /// @param totalSteps  of the training, for schedules
    WeightUpdate(const config::TrainingConfig& config, std::vector<at::Tensor> parameters, at::Device device,
                 std::int64_t batch, std::int64_t totalSteps);
    ~WeightUpdate();

    /// The loss for the backward pass: multiplied by the scaler's factor if there is a scaler.
    [[nodiscard]] at::Tensor scaled(const at::Tensor& loss) const;
    /// Updates the weights with the parameters' gradients.
    /// @param step  of the training, from 0
    /// @param factor  all gradients are first multiplied by it
    /// @return false if the step was skipped because gradients overflowed
    bool apply(std::int64_t step, double factor);
    /// The learning rate of a step.
    [[nodiscard]] double learningRate(std::int64_t step) const;
    /// Number of steps skipped so far.
    [[nodiscard]] std::int64_t skipped() const { return m_scaler ? m_scaler->skipped() : 0; }

    /// The state that a resumed run needs, by name.
    [[nodiscard]] std::vector<std::pair<std::string, at::Tensor>> state() const;
    /// Throws c10::Error if the state belongs to another optimizer or model.
    void setState(const std::vector<std::pair<std::string, at::Tensor>>& state);

private:
    std::vector<at::Tensor> m_parameters;
    std::unique_ptr<Optimizer> m_optimizer;
    ScheduleKind m_schedule;
    ScheduleOptions m_rates;
    std::optional<GradScaler> m_scaler;
    double m_clipNorm, m_clipValue;
};

/// Scales all gradients by one factor so that their total norm is at most `limit`, like torch.nn.utils.clip_grad_norm_.
/// Reads nothing back from the device.
/// @return the norm before scaling, a scalar on the device
at::Tensor clipNorm(const std::vector<at::Tensor>& gradients, double limit);
/// Clamps every element to ±limit.
void clipValue(const std::vector<at::Tensor>& gradients, double limit);

} // namespace trainer
