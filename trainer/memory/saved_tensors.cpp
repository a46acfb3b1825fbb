#include "trainer/memory/saved_tensors.h"

#include <torch/csrc/autograd/engine.h>

namespace trainer {

namespace {

namespace autograd = torch::autograd;

thread_local SavedTensors* current = nullptr;

// LibTorch asks the engine for hooks, but its own engine has none.
class Engine final : public autograd::Engine {
public:
    std::unique_ptr<autograd::SavedVariableHooks> get_default_saved_variable_hooks() override
    {
        return SavedTensors::hooksOfThread();
    }
};

autograd::Engine& engine()
{
    static Engine only;
    return only;
}

} // namespace

SavedTensors::SavedTensors(Make make) : m_make(std::move(make)), m_before(current)
{
    static const bool installed = (autograd::set_default_engine_stub(&engine), true);
    static_cast<void>(installed);
    current = this;
}

SavedTensors::~SavedTensors()
{
    current = m_before;
}

bool SavedTensors::areHooked()
{
    return current != nullptr;
}

std::unique_ptr<autograd::SavedVariableHooks> SavedTensors::hooksOfThread()
{
    return current ? current->m_make() : nullptr;
}

} // namespace trainer
