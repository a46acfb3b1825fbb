#include "trainer/workloads/parts/network.h"
#include "trainer/workloads/parts/norm.h"
#include "trainer/workloads/workload.h"

#include <ATen/ATen.h>
#include <torch/nn/modules/linear.h>

namespace trainer::workloads {

namespace {

namespace nn = torch::nn;

constexpr std::array<Scale, 4> kSizes = {{{32, 2}, {128, 3}, {1024, 4}, {8192, 6}}};

class Hidden final : public nn::Module {
public:
    Hidden(std::int64_t in, std::int64_t out, const ModelOptions& options)
        : m_linear(register_module("linear", nn::Linear(nn::LinearOptions(in, out).bias(hasBias(options))))),
          m_norm(register_module("norm", makeNorm(options.norm, out, 2)))
    {
    }
    at::Tensor forward(const at::Tensor& x) { return at::relu(m_norm->forward(m_linear->forward(x))); }

private:
    nn::Linear m_linear;
    std::shared_ptr<Norm> m_norm;
};

class Mlp final : public Network {
public:
    explicit Mlp(const ModelOptions& options) : m_classes(options.data.classes)
    {
        const auto [width, depth] = scaleOf(options, kSizes);
        std::int64_t in = options.data.inputs[0].elements();
        for (std::int64_t i = 0; i < depth; ++i) {
            addBlock("layer" + std::to_string(i), std::make_shared<Hidden>(in, width, options));
            in = width;
        }
        const std::int64_t out = m_classes > 0 ? m_classes : options.data.target.elements();
        m_head = register_module("head", nn::Linear(in, out));
    }

    Pass forward(const BatchTensors& batch) override
    {
        at::Tensor scores = m_head->forward(runBlocks(batch.inputs[0].flatten(1)));
        if (m_classes == 0)
            scores = scores.view_as(batch.target);
        return {scores, batch.target};
    }
    [[nodiscard]] Objective objective() const override
    {
        return m_classes > 0 ? Objective::Classes : Objective::Numbers;
    }

private:
    std::int64_t m_classes; // 0: predicts numbers
    nn::Linear m_head{nullptr};
};

} // namespace

Workload mlp()
{
    return {"Multilayer perceptron",
            "Linear layers on table rows or on the pixels of small images; predicts classes or numbers.",
            {data::DataKind::Rows, data::DataKind::Images},
            [](const ModelOptions& options) -> std::shared_ptr<Network> { return std::make_shared<Mlp>(options); }};
}

} // namespace trainer::workloads
