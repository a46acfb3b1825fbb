#include "profiler/model/result.h"
#include "trainer/workloads/parts/model_file.h"
#include "trainer/workloads/parts/network.h"
#include "trainer/workloads/parts/script_trace.h"
#include "trainer/workloads/workload.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <c10/util/Exception.h>
#include <sstream>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/import.h>

namespace trainer::workloads {

namespace {

using profiler::Error;

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
        // Registers the same tensors under valid module names, so that they are moved, trained and counted with this
        // module.
        for (const auto& parameter : m_module.named_parameters())
            register_parameter(flat(parameter.name), parameter.value, parameter.value.requires_grad());
        const auto parameters = this->parameters();
        if (std::none_of(parameters.begin(), parameters.end(), [](const at::Tensor& p) { return p.requires_grad(); }))
            profiler::throwError<"model_file.no_gradients",
                                 "None of the model's parameters requires a gradient, so there is nothing to train">(
                Error::Code::Invalid, options.path, "save the model before freezing it");
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
        const c10::IValue answer = forwardOfModule(std::move(arguments), batch);
        if (answer.isTensor())
            return answer.toTensor();
        if (answer.isTuple() && !answer.toTupleRef().elements().empty() && answer.toTupleRef().elements()[0].isTensor())
            return answer.toTupleRef().elements()[0].toTensor();
        profiler::throwError<"model_file.no_tensor", "The model returned {kind} instead of a tensor">(
            Error::Code::Invalid, m_options.path,
            "return a tensor, or a tuple whose first element is a tensor, from forward()",
            {{"kind", answer.tagKind()}});
    }
    c10::IValue forwardOfModule(std::vector<c10::IValue> arguments, const BatchTensors& batch)
    {
        try {
            return m_module.forward(std::move(arguments));
        } catch (const c10::OutOfMemoryError&) {
            throw;
        } catch (const std::exception& thrown) {
            const auto* error = dynamic_cast<const c10::Error*>(&thrown);
            const std::string why = layerAndReason(error ? error->what_without_backtrace() : thrown.what());
            profiler::throwError<"model_file.forward", "The model failed on inputs of shape {shapes}: {why}">(
                Error::Code::Invalid, m_options.path,
                "choose the dataset and the dataset.image_size that the model was made for; with model.input_shapes "
                "the shapes are checked before the run",
                {{"shapes", shapesOf(batch)}, {"why", why}});
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
        throw profiler::Failure(file.error());
    try {
        return std::make_shared<Scripted>(options, *file);
    } catch (const c10::Error& error) {
        const std::string text = error.what_without_backtrace();
        profiler::throwError<"model_file.no_torchscript", "LibTorch cannot read the file as TorchScript: {why}">(
            Error::Code::Malformed, options.path,
            "save the model as TorchScript with torch.jit.script(model).save(path); torch.save() does not save the "
            "code",
            {{"why", text.substr(0, text.find('\n'))}});
    }
}

} // namespace

Workload torchscript()
{
    using enum data::DataKind;
    return {"TorchScript file",
            "Your own model, saved with torch.jit.save (model.path), trained with the loss in model.loss. It contains "
            "code: it runs only if model.trusted_sha256 is its SHA-256.",
            {Images, Tokens, Sequences, Rows},
            make,
            check};
}

} // namespace trainer::workloads
