#pragma once

#include <ATen/autocast_mode.h>
#include <optional>

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

} // namespace trainer
