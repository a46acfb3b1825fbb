#pragma once

#include "trainer/workloads/network.h"

#include <ATen/ATen.h>
#include <cstddef>
#include <vector>

namespace trainer {

/// Saves a network's buffers (batch norms' statistics) and restores them after passes that must not change them.
/// Single-threaded.
class BuffersBefore {
public:
    explicit BuffersBefore(const Network& network) : m_buffers(network.buffers())
    {
        for (const at::Tensor& buffer : m_buffers)
            m_before.push_back(buffer.clone());
    }
    void restore()
    {
        const at::NoGradGuard noGradients;
        for (std::size_t i = 0; i < m_buffers.size(); ++i)
            m_buffers[i].copy_(m_before[i]);
    }

private:
    std::vector<at::Tensor> m_buffers, m_before;
};

} // namespace trainer
