#include "trainer/memory/recompute.h"

#include "trainer/precision/autocast.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <mutex>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>
#include <torch/csrc/autograd/saved_variable.h>
#include <torch/nn/modules/batchnorm.h>

namespace trainer {

namespace {

namespace autograd = torch::autograd;

// The states of the generators that a block may draw from.
class RandomState {
public:
    explicit RandomState(at::Device device)
    {
        save(at::detail::getDefaultCPUGenerator());
        if (!device.is_cpu())
            save(at::globalContext().defaultGenerator(device));
    }
    void restore()
    {
        for (auto& [generator, state] : m_states) {
            const std::lock_guard lock(generator.mutex());
            generator.set_state(state);
        }
    }

private:
    void save(at::Generator generator)
    {
        const std::lock_guard lock(generator.mutex());
        m_states.emplace_back(generator, generator.get_state());
    }
    std::vector<std::pair<at::Generator, at::Tensor>> m_states;
};

// While it lives, batch norms update copies of their statistics. The tensors are exchanged, not overwritten: what was
// saved for the backward pass must not change.
class StatisticsAside {
public:
    explicit StatisticsAside(torch::nn::Module& module)
    {
        for (const auto& part : module.modules()) {
            if (auto* norm = dynamic_cast<torch::nn::BatchNorm1dImpl*>(part.get()))
                putAside(*norm);
            else if (auto* norm2d = dynamic_cast<torch::nn::BatchNorm2dImpl*>(part.get()))
                putAside(*norm2d);
            else if (auto* norm3d = dynamic_cast<torch::nn::BatchNorm3dImpl*>(part.get()))
                putAside(*norm3d);
        }
    }
    ~StatisticsAside()
    {
        for (auto& [place, tensor] : m_real)
            *place = tensor;
    }
    StatisticsAside(const StatisticsAside&) = delete;
    StatisticsAside& operator=(const StatisticsAside&) = delete;

private:
    template <class Norm>
    void putAside(Norm& norm)
    {
        for (at::Tensor* place : {&norm.running_mean, &norm.running_var, &norm.num_batches_tracked})
            if (place->defined()) {
                m_real.emplace_back(place, *place);
                *place = place->clone();
            }
    }
    std::vector<std::pair<at::Tensor*, at::Tensor>> m_real;
};

class RecomputeNode final : public autograd::Node {
public:
    RecomputeNode(const BlockFunction& block, torch::nn::Module& module, const at::Tensor& input)
        : Node(autograd::collect_next_edges(input)), m_block(block), m_module(module), m_input(input, false),
          m_device(input.device()), m_autocast(Autocast::current(m_device.type())), m_random(m_device)
    {
    }

    autograd::variable_list apply(autograd::variable_list&& gradients) override
    {
        const std::lock_guard lock(mutex_);
        const at::Tensor saved = m_input.unpack();
        at::Tensor input = saved.detach();
        input.set_requires_grad(saved.requires_grad());
        RandomState before(m_device);
        m_random.restore();
        at::Tensor output;
        {
            const at::AutoGradMode recording(true);
            const Autocast autocast(m_device.type(), m_autocast);
            const StatisticsAside statistics(m_module);
            output = m_block(input);
        }
        before.restore();
        if (output.requires_grad())
            autograd::backward({output}, {gradients[0]});
        return {input.grad()};
    }

    void release_variables() override
    {
        const std::lock_guard lock(mutex_);
        m_input.reset_data();
    }
    [[nodiscard]] std::string name() const override { return "Recompute"; }

private:
    BlockFunction m_block;
    torch::nn::Module& m_module;
    autograd::SavedVariable m_input;
    at::Device m_device;
    std::optional<at::ScalarType> m_autocast;
    RandomState m_random;
};

} // namespace

at::Tensor recomputed(const BlockFunction& block, torch::nn::Module& module, const at::Tensor& input)
{
    if (!at::GradMode::is_enabled())
        return block(input);
    const auto node = std::shared_ptr<RecomputeNode>(new RecomputeNode(block, module, input), autograd::deleteNode);
    at::Tensor output;
    {
        const at::NoGradGuard nothingKept;
        output = block(input);
    }
    // A block may hand its input through; the node must have a tensor of its own.
    if (output.is_same(input))
        output = output.view_as(output);
    autograd::set_history(output, node);
    return output;
}

} // namespace trainer
