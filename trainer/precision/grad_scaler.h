#pragma once

#include <ATen/core/Tensor.h>
#include <cstdint>
#include <vector>

namespace trainer {

/// Keeps small FP16 gradients from underflowing: the loss is multiplied by a scale before the backward pass, and the
/// gradients are divided by it afterwards. A step whose gradients overflow is skipped and halves the scale; a number of
/// good steps in a row doubles it. Uses the constants of torch.amp.GradScaler.
class GradScaler {
public:
    explicit GradScaler(at::Device device);

    [[nodiscard]] at::Tensor scaled(const at::Tensor& loss) const { return loss * m_scale; }
    /// Divides the gradients by the scale and updates the scale for the next step. Waits for the device.
    /// @return false if a gradient is not finite: the step must be skipped
    bool unscale(const std::vector<at::Tensor>& gradients);
    [[nodiscard]] std::int64_t skipped() const { return m_skipped; }
    /// Waits for the device.
    [[nodiscard]] double scale() const { return m_scale.item<double>(); }

    /// The scale and the count of good steps, as the scaler's own tensors: the state that a resumed run needs.
    [[nodiscard]] std::vector<at::Tensor> state() const { return {m_scale, m_good}; }

private:
    at::Tensor m_scale, m_good, m_found;
    std::int64_t m_skipped = 0;
};

} // namespace trainer
