#pragma once

#include <ATen/core/Tensor.h>
#include <cstdint>
#include <vector>

namespace trainer {

/// Keeps small gradients from vanishing in FP16: the loss is multiplied by a scale before the backward pass, gradients
/// are divided by it after. A step whose gradients overflowed is skipped and halves the scale; so many good steps in a
/// row double it. Numbers as torch.amp.GradScaler's.
class GradScaler {
public:
    explicit GradScaler(at::Device device);

    [[nodiscard]] at::Tensor scaled(const at::Tensor& loss) const { return loss * m_scale; }
    /// Divides the gradients by the scale, and changes the scale for the next step. Waits for the device.
    /// @return false when one of them is no finite number: the step must be skipped
    bool unscale(const std::vector<at::Tensor>& gradients);
    [[nodiscard]] std::int64_t skipped() const { return m_skipped; }
    /// Waits for the device.
    [[nodiscard]] double scale() const { return m_scale.item<double>(); }

    /// Scale and count of good steps, the scaler's own tensors: what a resumed run needs.
    [[nodiscard]] std::vector<at::Tensor> state() const { return {m_scale, m_good}; }

private:
    at::Tensor m_scale, m_good, m_found;
    std::int64_t m_skipped = 0;
};

} // namespace trainer
