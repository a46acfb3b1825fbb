#include "trainer/workloads/parts/network.h"
#include "trainer/workloads/workload.h"

#include <ATen/ATen.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/rnn.h>

// Hochreiter and Schmidhuber, Long Short-Term Memory, 1997, in cuDNN's variant.
namespace trainer::workloads {

namespace {

namespace nn = torch::nn;

constexpr std::array<Scale, 4> kSizes = {{{32, 1}, {128, 2}, {512, 2}, {2048, 4}}};

class Lstm final : public Network {
public:
    explicit Lstm(const ModelOptions& options) : m_classes(options.data.classes)
    {
        const auto [width, depth] = scaleOf(options, kSizes);
        std::int64_t features = width;
        if (options.data.kind == data::DataKind::Tokens)
            m_tokens = register_module("tokens", nn::Embedding(m_classes, width));
        else
            features = options.data.inputs[0].shape[1];
        m_lstm =
            register_module("lstm", nn::LSTM(nn::LSTMOptions(features, width).num_layers(depth).batch_first(true)));
        const std::int64_t out = m_classes > 0 ? m_classes : options.data.target.elements();
        m_head = register_module("head", nn::Linear(width, out));
    }

    Pass forward(const BatchTensors& batch) override
    {
        const at::Tensor& x = batch.inputs[0];
        if (m_tokens)
            return {m_head->forward(std::get<0>(m_lstm->forward(m_tokens->forward(x)))), batch.target};
        at::Tensor scores = m_head->forward(std::get<0>(m_lstm->forward(x)).select(1, -1));
        if (m_classes == 0)
            scores = scores.view_as(batch.target);
        return {scores, batch.target};
    }
    [[nodiscard]] Objective objective() const override
    {
        if (m_tokens)
            return Objective::Tokens;
        return m_classes > 0 ? Objective::Classes : Objective::Numbers;
    }

private:
    std::int64_t m_classes; // 0: predicts numbers
    nn::Embedding m_tokens{nullptr};
    nn::LSTM m_lstm{nullptr};
    nn::Linear m_head{nullptr};
};

} // namespace

Workload lstm()
{
    return {"LSTM",
            "A recurrent network that predicts the next token of a text, or the class or number of a sequence of "
            "measurements.",
            {data::DataKind::Tokens, data::DataKind::Sequences},
            [](const ModelOptions& options) -> std::shared_ptr<Network> { return std::make_shared<Lstm>(options); }};
}

} // namespace trainer::workloads
