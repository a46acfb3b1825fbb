#include "trainer/hooks/gradient_check.h"

#include "trainer/data/random.h"
#include "trainer/workloads/parts/network.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <cmath>
#include <torch/csrc/autograd/autograd.h>

namespace trainer {

namespace {

constexpr int kElements = 16;
constexpr std::int64_t kSamples = 2;
constexpr double kStep = 1e-6;

// Converts the model to double precision and evaluation mode in a scope. FP32 weights are restored bit for bit.
class InDouble {
public:
    explicit InDouble(Network& network) : m_network(network), m_type(network.parameters().at(0).scalar_type())
    {
        convert(m_type, at::kDouble);
        m_network.eval();
    }
    ~InDouble()
    {
        convert(at::kDouble, m_type);
        m_network.train();
    }
    InDouble(const InDouble&) = delete;
    InDouble& operator=(const InDouble&) = delete;

private:
    // Module::to() is not used because it would convert counters and indices to floating point as well.
    void convert(at::ScalarType from, at::ScalarType to)
    {
        for (at::Tensor& parameter : m_network.parameters()) {
            parameter.mutable_grad().reset();
            if (parameter.scalar_type() == from)
                parameter.set_data(parameter.detach().to(to));
        }
        for (at::Tensor& buffer : m_network.buffers())
            if (buffer.scalar_type() == from)
                buffer.set_data(buffer.to(to));
    }

    Network& m_network;
    at::ScalarType m_type;
};

BatchTensors beginning(const BatchTensors& batch)
{
    const auto first = [&](const at::Tensor& tensor) {
        const at::Tensor part = tensor.narrow(0, 0, std::min(batch.count, kSamples));
        return part.is_floating_point() ? part.to(at::kDouble) : part;
    };
    BatchTensors part;
    for (const at::Tensor& input : batch.inputs)
        part.inputs.push_back(first(input));
    part.target = first(batch.target);
    part.count = std::min(batch.count, kSamples);
    return part;
}

class Checker {
public:
    Checker(Network& network, BatchTensors batch, bool second)
        : m_network(network), m_batch(std::move(batch)), m_second(second)
    {
        for (const auto& item : network.named_parameters())
            if (item.value().requires_grad()) {
                m_names.push_back(item.key());
                m_parameters.push_back(item.value());
            }
        if (m_second)
            for (const at::Tensor& parameter : m_parameters)
                m_direction.push_back(at::randn_like(parameter));
    }

    GradientCheck run()
    {
        const auto analytical = torch::autograd::grad({value()}, m_parameters, {}, false, false, true);
        GradientCheck check;
        data::Random random(1);
        for (int i = 0; i < kElements; ++i) {
            const std::size_t which = random.below(static_cast<std::uint32_t>(m_parameters.size()));
            const at::Tensor& parameter = m_parameters[which];
            const std::int64_t element = random.below(static_cast<std::uint32_t>(parameter.numel()));
            const at::Tensor& gradient = analytical[which];
            const double byRule = gradient.defined() ? gradient.reshape({-1})[element].item<double>() : 0;
            const double byDifference = difference(parameter, element);
            const double size = std::max({std::abs(byRule), std::abs(byDifference), 1e-3});
            const double error = std::abs(byRule - byDifference) / size;
            ++check.elements;
            if (error >= check.worst) {
                check.worst = error;
                check.where = m_names[which];
            }
        }
        return check;
    }

private:
    // The loss, or g·v.
    at::Tensor value()
    {
        const at::AutoGradMode recording(true);
        const at::Tensor loss = lossOf(m_network.objective(), m_network.forward(m_batch));
        if (!m_second)
            return loss;
        const auto gradients = torch::autograd::grad({loss}, m_parameters, {}, true, true, true);
        at::Tensor sum = at::zeros({}, loss.options());
        for (std::size_t i = 0; i < gradients.size(); ++i)
            if (gradients[i].defined())
                sum = sum + (gradients[i] * m_direction[i]).sum();
        return sum;
    }

    double difference(const at::Tensor& parameter, std::int64_t element)
    {
        at::Tensor data = parameter.detach();
        // A mask selects the element independently of the memory order.
        at::Tensor mask = at::zeros({data.numel()}, data.options().dtype(at::kBool));
        mask[element].fill_(true);
        mask = mask.reshape(data.sizes());
        const double before = data.masked_select(mask).item<double>();
        const auto valueAt = [&](double shifted) {
            data.masked_fill_(mask, shifted);
            return value().detach().item<double>();
        };
        const double above = valueAt(before + kStep), below = valueAt(before - kStep);
        data.masked_fill_(mask, before);
        return (above - below) / (2 * kStep);
    }

    Network& m_network;
    BatchTensors m_batch;
    bool m_second;
    std::vector<std::string> m_names;
    std::vector<at::Tensor> m_parameters, m_direction;
};

} // namespace

GradientCheck checkGradients(Network& network, const BatchTensors& batch, bool second)
{
    const InDouble guard(network);
    return Checker(network, beginning(batch), second).run();
}

} // namespace trainer
