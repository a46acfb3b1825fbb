#pragma once

#include <ATen/autocast_mode.h>
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <vector>

/// Number formats of a training: autocast, the scale of FP16 losses, TF32; and cuDNN's choice of algorithms.
namespace trainer {

/// Runs the operators of its scope in a half-precision type if LibTorch's lists say that this is safe. Only for forward
/// pass and loss: the backward pass uses the types of the forward pass automatically.
class Autocast {
public:
    /// @param type  at::kBFloat16 or at::kHalf; nullopt: does nothing
    Autocast(at::DeviceType device, std::optional<at::ScalarType> type);
    ~Autocast();
    Autocast(const Autocast&) = delete;
    Autocast& operator=(const Autocast&) = delete;

    /// The autocast type that is currently active on this thread.
    static std::optional<at::ScalarType> current(at::DeviceType device);

private:
    at::DeviceType m_device;
    bool m_enabled, m_before = false;
    at::ScalarType m_typeBefore = at::kFloat;
};

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

/// Allows TF32 for FP32 matmuls, convolutions and recurrent layers on the GPU; false keeps LibTorch's default, which is
/// TF32 for convolutions and recurrent layers only. Process-wide.
void setTf32(bool on);
/// Lets cuDNN benchmark its algorithms per shape and keep the fastest. Process-wide.
void setCudnnBenchmark(bool on);

} // namespace trainer
