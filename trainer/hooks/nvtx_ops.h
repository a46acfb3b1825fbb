#pragma once

#include "profiler/capture/nvtx_ranges.h"

#include <cstdint>
#include <memory>

namespace trainer {

/// Every operator of LibTorch as an NVTX range, as torch.autograd.profiler.emit_nvtx gives them, while it lives. One
/// object a process; made and destroyed between steps.
class NvtxOps {
public:
    NvtxOps();
    ~NvtxOps();
    NvtxOps(const NvtxOps&) = delete;
    NvtxOps& operator=(const NvtxOps&) = delete;
    /// Ranges given so far.
    [[nodiscard]] static std::int64_t count();

private:
    profiler::capture::NvtxRanges m_ranges;
    std::uint64_t m_handle = 0;
};

} // namespace trainer
