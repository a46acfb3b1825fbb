#include "trainer/workloads/parts/network.h"
#include "trainer/workloads/workload.h"

#include <ATen/ATen.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>

namespace trainer::workloads {

namespace {

namespace nn = torch::nn;

// A convolution from 64 to 3 channels, a common example of the gain from cuDNN's autotuner.
class OneConvolution final : public Network {
public:
    explicit OneConvolution(const ModelOptions& options)
        : m_convolution(register_module("conv", nn::Conv2d(nn::Conv2dOptions(kChannels, kOut, 3)))),
          m_head(register_module("head", nn::Linear(kOut, options.data.classes)))
    {
    }

    Pass forward(const BatchTensors& batch) override
    {
        const at::Tensor& images = batch.inputs[0];
        // Repeats the image until there are enough channels.
        const std::int64_t times = (kChannels + images.size(1) - 1) / images.size(1);
        const at::Tensor wide = images.repeat({1, times, 1, 1}).narrow(1, 0, kChannels);
        return {m_head->forward(at::relu(m_convolution->forward(wide)).mean({2, 3})), batch.target};
    }
    [[nodiscard]] Objective objective() const override { return Objective::Classes; }

private:
    static constexpr std::int64_t kChannels = 64, kOut = 3;
    nn::Conv2d m_convolution;
    nn::Linear m_head;
};

} // namespace

Workload convolution()
{
    return {"One convolution",
            "Conv2d(64, 3) and almost nothing else, to study how a single convolution is computed. Its size is fixed.",
            {data::DataKind::Images},
            [](const ModelOptions& options) -> std::shared_ptr<Network> {
                return std::make_shared<OneConvolution>(options);
            }};
}

} // namespace trainer::workloads
