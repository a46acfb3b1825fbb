#include "trainer/models/model_file.h"
#include "trainer/models/script_trace.h"
#include "trainer/workloads/network.h"
#include "trainer/workloads/workload.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <c10/util/Exception.h>
#include <sstream>
#include <stdexcept>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/import.h>

namespace trainer::workloads {

namespace {

std::string shapesOf(const BatchTensors& batch)
{
    std::ostringstream text;
    for (std::size_t i = 0; i < batch.inputs.size(); ++i)
        text << (i > 0 ? ", " : "") << batch.inputs[i].sizes();
    return text.str();
}

class Scripted final : public Network {
public:
    Scripted(const ModelOptions& options, const std::string& file) : m_options(options)
    {
        std::istringstream stream(file);
        m_module = torch::jit::load(stream);
        // The same tensors under names that a module may have, so that they move, train and are counted with it.
        for (const auto& parameter : m_module.named_parameters())
            register_parameter(flat(parameter.name), parameter.value, parameter.value.requires_grad());
        const auto parameters = this->parameters();
        if (std::none_of(parameters.begin(), parameters.end(), [](const at::Tensor& p) { return p.requires_grad(); }))
            throw std::runtime_error(options.path + " has no parameter that requires a gradient: there is nothing to "
                                                    "train. Save the model before it is frozen.");
        for (const auto& buffer : m_module.named_buffers())
            register_buffer(flat(buffer.name), buffer.value);
    }

    Pass forward(const BatchTensors& batch) override
    {
        std::vector<c10::IValue> arguments(batch.inputs.begin(), batch.inputs.end());
        if (objective() == Objective::Given)
            arguments.emplace_back(batch.target);
        Pass pass{call(std::move(arguments), batch), batch.target};
        checkAnswer(m_options, pass);
        return pass;
    }
    [[nodiscard]] Objective objective() const override { return objectiveOf(m_options); }
    void train(bool on = true) override
    {
        Network::train(on);
        m_module.train(on);
    }

private:
    static std::string flat(std::string name)
    {
        std::replace(name.begin(), name.end(), '.', '/');
        return name;
    }
    at::Tensor call(std::vector<c10::IValue> arguments, const BatchTensors& batch)
    {
        try {
            const c10::IValue answer = m_module.forward(std::move(arguments));
            if (answer.isTensor())
                return answer.toTensor();
            if (answer.isTuple() && !answer.toTupleRef().elements().empty() &&
                answer.toTupleRef().elements()[0].isTensor())
                return answer.toTupleRef().elements()[0].toTensor();
            throw std::runtime_error("it gives " + answer.tagKind() + ", no tensor");
        } catch (const c10::OutOfMemoryError&) {
            throw;
        } catch (const std::exception& thrown) {
            const auto* error = dynamic_cast<const c10::Error*>(&thrown);
            throw ModelMisfit("the model failed on inputs of shape " + shapesOf(batch) + ", " +
                                  layerAndReason(error ? error->what_without_backtrace() : thrown.what()),
                              m_options.path,
                              "take the data set and dataset.image_size that it was made for; model.input_shapes says "
                              "what it takes, and is checked before the run");
        }
    }

    ModelOptions m_options;
    torch::jit::Module m_module;
};

profiler::Result<void> check(const ModelOptions& options)
{
    if (const auto file = readTrusted(options); !file)
        return tl::unexpected(file.error());
    return checkShapes(options);
}

std::shared_ptr<Network> make(const ModelOptions& options)
{
    const auto file = readTrusted(options);
    if (!file)
        throw std::runtime_error(file.error().message());
    try {
        return std::make_shared<Scripted>(options, *file);
    } catch (const c10::Error& error) {
        const std::string text = error.what_without_backtrace();
        throw ModelMisfit("the model is no TorchScript file that this LibTorch reads (" +
                              text.substr(0, text.find('\n')) + ")",
                          options.path,
                          "save it as TorchScript: torch.jit.script(model).save(path); a file of torch.save holds no "
                          "code");
    }
}

} // namespace

Workload torchscript()
{
    using enum data::DataKind;
    return {
        "TorchScript file",
        "A model of your own that torch.jit.save wrote (model.path), trained with the loss that model.loss names. It "
        "is code: it runs only when model.trusted_sha256 is its SHA-256.",
        {Images, Volumes, Tokens, Sequences, Rows},
        make,
        check};
}

} // namespace trainer::workloads
