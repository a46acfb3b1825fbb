#pragma once

#include <functional>
#include <memory>
#include <torch/csrc/autograd/saved_variable_hooks.h>

namespace trainer {

/// While it lives, what operators on its thread keep for the backward pass goes to the hooks that `make` makes, one for
/// each tensor: what torch.autograd.graph.saved_tensors_hooks is in Python. The last one made is asked.
class SavedTensors {
public:
    using Make = std::function<std::unique_ptr<torch::autograd::SavedVariableHooks>()>;

    explicit SavedTensors(Make make);
    ~SavedTensors();
    SavedTensors(const SavedTensors&) = delete;
    SavedTensors& operator=(const SavedTensors&) = delete;

    /// Some hooks are set on this thread.
    static bool areHooked();
    /// What the thread's operators are to give their tensors to; null: they keep them themselves.
    static std::unique_ptr<torch::autograd::SavedVariableHooks> hooksOfThread();

private:
    Make m_make;
    SavedTensors* m_before;
};

} // namespace trainer
