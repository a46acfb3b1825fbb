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

/// GPU work that is recorded once and launched as a whole.
class CudaGraph {
public:
    virtual ~CudaGraph() = default;
    /// Runs `work` a few times on a separate stream, then records it. Throws std::exception if it cannot be recorded,
    /// because it waits for the device or its shapes change.
    virtual void record(const std::function<void()>& work) = 0;
    virtual void replay() = 0;
};

/// The code that links LibTorch's CUDA libraries: a separate library, opened only if there is a GPU, so that a machine
/// without one does not need them.
struct CudaPlugin {
    std::unique_ptr<CudaGraph> (*makeGraph)() = nullptr;
    /// @param timeout  of an exchange: the other ranks may be paused
    c10::intrusive_ptr<c10d::Backend> (*makeNccl)(const c10::intrusive_ptr<c10d::Store>& store, int rank, int size,
                                                  std::chrono::milliseconds timeout) = nullptr;
};

/// Opens the library at the first call. Throws profiler::Failure with the loader's reason on failure.
const CudaPlugin& cudaPlugin();

} // namespace trainer
