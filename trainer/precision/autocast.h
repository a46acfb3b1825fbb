#pragma once

#include <ATen/autocast_mode.h>

namespace trainer {

/// Runs the operators of its scope in BF16 where LibTorch's lists say that this is safe. For forward and loss only: the
/// backward pass takes the types of the forward by itself.
class Autocast {
public:
    Autocast(at::DeviceType device, bool enabled);
    ~Autocast();
    Autocast(const Autocast&) = delete;
    Autocast& operator=(const Autocast&) = delete;

private:
    at::DeviceType m_device;
    bool m_enabled, m_before = false;
};

} // namespace trainer
