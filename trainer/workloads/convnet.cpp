#include "trainer/workloads/network.h"
#include "trainer/workloads/workload.h"

#include <ATen/ATen.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>

namespace trainer::workloads {

namespace {

namespace nn = torch::nn;

// Three blocks of convolution, batch norm, ReLU and pooling, then one linear layer over the means of the channels.
class ConvNet final : public Network {
public:
    explicit ConvNet(const ModelOptions& options) : m_head(options.width * 4, options.classes)
    {
        std::int64_t in = options.channels;
        for (std::int64_t block = 0; block < 3; ++block) {
            const std::int64_t out = options.width << block;
            const std::string number = std::to_string(block);
            // No bias: the batch norm right after would take it away again.
            m_convolutions.push_back(
                register_module("conv" + number, nn::Conv2d(nn::Conv2dOptions(in, out, 3).padding(1).bias(false))));
            m_norms.push_back(register_module("norm" + number, nn::BatchNorm2d(out)));
            in = out;
        }
        register_module("head", m_head);
    }

    at::Tensor forward(const at::Tensor& images) override
    {
        at::Tensor x = images;
        for (std::size_t block = 0; block < m_convolutions.size(); ++block) {
            x = at::relu(m_norms[block]->forward(m_convolutions[block]->forward(x)));
            if (block + 1 < m_convolutions.size())
                x = at::max_pool2d(x, 2);
        }
        return m_head->forward(at::adaptive_avg_pool2d(x, {1, 1}).flatten(1));
    }

private:
    std::vector<nn::Conv2d> m_convolutions;
    std::vector<nn::BatchNorm2d> m_norms;
    nn::Linear m_head;
};

} // namespace

Workload convnet()
{
    return {"Small convnet",
            "Three convolutions with batch norm, then a linear layer. Trains in seconds on a processor.",
            [](const ModelOptions& options) -> std::shared_ptr<Network> { return std::make_shared<ConvNet>(options); }};
}

} // namespace trainer::workloads
