#pragma once

#include <functional>
#include <memory>
#include <torch/csrc/autograd/saved_variable_hooks.h>

namespace trainer {

/// During its lifetime, tensors that operators on its thread save for the backward pass go to hooks from `make`, one
/// per tensor: the equivalent of Python's torch.autograd.graph.saved_tensors_hooks. The most recent object is used.
class SavedTensors {
public:
    using Make = std::function<std::unique_ptr<torch::autograd::SavedVariableHooks>()>;

    explicit SavedTensors(Make make);
    ~SavedTensors();
    SavedTensors(const SavedTensors&) = delete;
    SavedTensors& operator=(const SavedTensors&) = delete;

    /// Whether hooks are set on this thread.
    static bool areHooked();
    /// The hooks for the next tensor saved on this thread; null: operators save tensors themselves.
    static std::unique_ptr<torch::autograd::SavedVariableHooks> hooksOfThread();

private:
    Make m_make;
    SavedTensors* m_before;
};

} // namespace trainer
