#pragma once

#include <c10/util/intrusive_ptr.h>
#include <chrono>
#include <functional>
#include <memory>

namespace c10d {
class Backend;
class Store;
} // namespace c10d

namespace trainer {

/// Work on the GPU, recorded once and started as a whole.
class CudaGraph {
public:
    virtual ~CudaGraph() = default;
    /// Runs `work` a few times on a stream of its own, then records it. Throws std::exception when it cannot be
    /// recorded: it waits for the device, or its shapes change.
    virtual void record(const std::function<void()>& work) = 0;
    virtual void replay() = 0;
};

/// What needs LibTorch's CUDA libraries at link time: a library of its own, which is opened where there is a GPU, so
/// that a machine without one does without them.
struct CudaPlugin {
    std::unique_ptr<CudaGraph> (*makeGraph)() = nullptr;
    /// @param timeout  for an exchange: the other ranks may be paused
    c10::intrusive_ptr<c10d::Backend> (*makeNccl)(const c10::intrusive_ptr<c10d::Store>& store, int rank, int size,
                                                  std::chrono::milliseconds timeout) = nullptr;
};

/// Opens it at the first call. Throws profiler::Failure with the loader's reason when that fails.
const CudaPlugin& cudaPlugin();

} // namespace trainer
