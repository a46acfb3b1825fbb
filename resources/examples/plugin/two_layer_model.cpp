// A custom model for stepscope-train: two linear layers that accept any dataset.
//
//     cmake -S . -B build -DTORCH_ROOT=/path/to/libtorch -DSTEPSCOPE_INCLUDE=/path/to/stepscope && cmake --build build
//     sha256sum build/libtwo_layer_model.so
//     stepscope-train --set workload=plugin --set model.path=build/libtwo_layer_model.so --set model.trusted_sha256=…

#include "trainer/plugin/stepscope_plugin.h"

#include <ATen/ATen.h>
#include <torch/nn/modules/linear.h>

namespace {

class TwoLayers final : public stepscope::PluginModel {
public:
    TwoLayers(std::int64_t in, std::int64_t out)
        : m_hidden(register_module("hidden", torch::nn::Linear(in, 64))),
          m_scores(register_module("scores", torch::nn::Linear(64, out)))
    {
    }
    at::Tensor forward(const std::vector<at::Tensor>& inputs) override
    {
        return m_scores->forward(at::relu(m_hidden->forward(inputs[0].flatten(1))));
    }

private:
    torch::nn::Linear m_hidden, m_scores;
};

std::shared_ptr<stepscope::PluginModel> make(const stepscope::PluginData& data)
{
    std::int64_t in = 1;
    for (const std::int64_t size : data.inputs[0])
        in *= size;
    return std::make_shared<TwoLayers>(in, data.classes);
}

} // namespace

STEPSCOPE_PLUGIN("Two layers", make)
