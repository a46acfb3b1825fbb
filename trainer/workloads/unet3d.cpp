#include "trainer/memory/cheap_part.h"
#include "trainer/workloads/network.h"
#include "trainer/workloads/parts/norm.h"
#include "trainer/workloads/parts/scale.h"
#include "trainer/workloads/workload.h"

#include <ATen/ATen.h>
#include <torch/nn/modules/conv.h>

// Çiçek et al., 3D U-Net, 2016: an encoder that halves the volume at each level, and a decoder with skip connections
// from the same level.
namespace trainer::workloads {

namespace {

namespace nn = torch::nn;

// Depth: number of levels.
constexpr std::array<Scale, 4> kSizes = {{{4, 2}, {8, 3}, {32, 4}, {64, 5}}};

// A 64-bit size cannot be halved, nor a width doubled, more often.
constexpr std::int64_t kMostLevels = 32;

class ConvNorm3d final : public nn::Module {
public:
    ConvNorm3d(std::int64_t in, std::int64_t out, const ModelOptions& options)
        : m_convolution(
              register_module("conv", nn::Conv3d(nn::Conv3dOptions(in, out, 3).padding(1).bias(hasBias(options))))),
          m_norm(register_module("norm", makeNorm(options.norm, out, 5)))
    {
    }
    at::Tensor convolved(const at::Tensor& x) { return m_convolution->forward(x); }
    at::Tensor activated(const at::Tensor& x) { return at::relu(m_norm->forward(x)); }

private:
    nn::Conv3d m_convolution;
    std::shared_ptr<Norm> m_norm;
};

// One level: two convolutions. In the decoder, their input is the upsampled volume and the skip connection.
class Level final : public nn::Module {
public:
    Level(std::int64_t in, std::int64_t out, const ModelOptions& options)
        : m_first(register_module("first", std::make_shared<ConvNorm3d>(in, out, options))),
          m_second(register_module("second", std::make_shared<ConvNorm3d>(out, out, options))),
          m_joined(register_module("joined", std::make_shared<CheapPart>())),
          m_between(register_module("between", std::make_shared<CheapPart>()))
    {
    }
    at::Tensor forward(at::TensorList inputs)
    {
        const at::Tensor x = inputs.size() == 1 ? m_first->convolved(inputs[0])
                                                : m_joined->run(*m_first, inputs, [this](at::TensorList parts) {
                                                      return m_first->convolved(joined(parts[0], parts[1]));
                                                  });
        return m_second->activated(m_between->run(
            *m_first, x, [this](at::TensorList parts) { return m_second->convolved(m_first->activated(parts[0])); }));
    }

private:
    static at::Tensor joined(const at::Tensor& below, const at::Tensor& seen)
    {
        return at::cat({seen, at::upsample_nearest3d(below, seen.sizes().slice(2))}, 1);
    }

    std::shared_ptr<ConvNorm3d> m_first, m_second;
    std::shared_ptr<CheapPart> m_joined, m_between;
};

class UNet3d final : public Network {
public:
    explicit UNet3d(const ModelOptions& options)
    {
        const auto [width, depth] = scaleOf(options, kSizes);
        m_levels = static_cast<std::size_t>(depth);
        std::int64_t in = options.data.inputs[0].shape[0];
        for (std::int64_t level = 0; level < depth; ++level) {
            addBlock("down" + std::to_string(level), std::make_shared<Level>(in, width << level, options));
            in = width << level;
        }
        for (std::int64_t level = depth - 2; level >= 0; --level) {
            const std::int64_t out = width << level;
            addBlock("up" + std::to_string(level), std::make_shared<Level>(in + out, out, options));
            in = out;
        }
        m_head = register_module("head", nn::Conv3d(nn::Conv3dOptions(in, options.data.classes, 1)));
    }

    Pass forward(const BatchTensors& batch) override
    {
        std::vector<at::Tensor> seen;
        at::Tensor x = batch.inputs[0];
        std::size_t block = 0;
        for (; block < m_levels; ++block) {
            x = blocks()[block].run(block == 0 ? x : at::max_pool3d(x, 2));
            seen.push_back(x);
        }
        for (seen.pop_back(); block < blocks().size(); ++block) {
            x = blocks()[block].run({x, seen.back()});
            seen.pop_back();
        }
        return {m_head->forward(x), batch.target};
    }
    [[nodiscard]] Objective objective() const override { return Objective::Voxels; }

private:
    std::size_t m_levels;
    nn::Conv3d m_head{nullptr};
};

profiler::Result<void> check(const ModelOptions& options)
{
    const std::int64_t depth = scaleOf(options, kSizes).depth;
    const auto& shape = options.data.inputs[0].shape;
    for (std::size_t i = 1; i < shape.size(); ++i)
        if (depth > kMostLevels || shape[i] >> (depth - 1) < 1)
            return profiler::fail<"model.unet3d.levels",
                                  "a 3D U-Net with {levels} levels cannot halve volumes of {shape} that often">(
                profiler::Error::Code::Invalid, "model.depth, dataset.volume_size",
                "choose fewer levels or larger volumes",
                {{"levels", depth}, {"shape", toText(options.data.inputs[0])}});
    if (options.data.target.shape.size() != 3)
        return profiler::fail<"model.unet3d.target",
                              "a 3D U-Net needs a class per voxel, but the dataset gives {shape}">(
            profiler::Error::Code::Invalid, "dataset.kind", "choose volumes with labels of the same size",
            {{"shape", toText(options.data.target)}});
    return {};
}

} // namespace

Workload unet3d()
{
    return {"3D U-Net",
            "Segments volumes voxel by voxel. Activations dominate its memory: a good model for checkpointing.",
            {data::DataKind::Volumes},
            [](const ModelOptions& options) -> std::shared_ptr<Network> { return std::make_shared<UNet3d>(options); },
            check};
}

} // namespace trainer::workloads
