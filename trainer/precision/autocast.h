#pragma once

#include <ATen/autocast_mode.h>
#include <optional>

namespace trainer {

/// Runs the operators of its scope in a half-precision type where LibTorch's lists say that this is safe. For forward
/// and loss only: the backward pass takes the types of the forward by itself.
class Autocast {
public:
    /// @param type  at::kBFloat16 or at::kHalf; nullopt: does nothing
    Autocast(at::DeviceType device, std::optional<at::ScalarType> type);
    ~Autocast();
    Autocast(const Autocast&) = delete;
    Autocast& operator=(const Autocast&) = delete;

    /// The type that is in force on this thread now.
    static std::optional<at::ScalarType> current(at::DeviceType device);

private:
    at::DeviceType m_device;
    bool m_enabled, m_before = false;
    at::ScalarType m_typeBefore = at::kFloat;
};

} // namespace trainer
