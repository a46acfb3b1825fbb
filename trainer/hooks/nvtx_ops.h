#pragma once

#include "profiler/capture/nvtx_ranges.h"

#include <cstdint>
#include <memory>

namespace trainer {

/// Emits every LibTorch operator as an NVTX range during its lifetime, like torch.autograd.profiler.emit_nvtx. One
/// object per process; create and destroy it between steps.
class NvtxOps {
public:
    NvtxOps();
    ~NvtxOps();
    NvtxOps(const NvtxOps&) = delete;
    NvtxOps& operator=(const NvtxOps&) = delete;
    /// Number of ranges emitted so far.
    [[nodiscard]] static std::int64_t count();

private:
    profiler::capture::NvtxRanges m_ranges;
    std::uint64_t m_handle = 0;
};

} // namespace trainer
