#include "profiler/model/result.h"
#include "profiler/os/connections.h"
#include "profiler/os/libraries.h"
#include "trainer/plugin/stepscope_plugin.h"
#include "trainer/workloads/parts/model_file.h"
#include "trainer/workloads/parts/network.h"
#include "trainer/workloads/workload.h"

#include <string>

namespace trainer::workloads {

namespace {

using profiler::Error;
using profiler::Result;
using stepscope::Plugin;
namespace os = profiler::os;

/// Loads exactly the bytes that were hashed: an in-memory copy that cannot change in between.
Result<os::Library> load(const std::string& path, const std::string& content)
{
    const auto failed = [&](const std::string& why) {
        return profiler::fail<"plugin.not_loaded", "the plug-in cannot be loaded: {why}">(
            Error::Code::Unsupported, path, "build it against LibTorch " TORCH_VERSION " with this trainer's compiler",
            {{"why", why}});
    };
    const os::Descriptor file = os::makeMemoryFile(content);
    if (!file)
        return failed("out of memory for a copy of it");
    const std::string name = "/proc/self/fd/" + std::to_string(file.get());
    const os::Library library = os::Library::open(name.c_str(), os::Library::Binding::Now);
    if (!library)
        return failed(os::Library::lastError());
    return library;
}

/// The library's description, if it was built for this trainer.
Result<const Plugin*> describe(const ModelOptions& options)
{
    const auto content = readTrusted(options);
    if (!content)
        return tl::unexpected(content.error());
    const auto library = load(options.path, *content);
    if (!library)
        return tl::unexpected(library.error());
    auto* const entry = library->function<const Plugin*()>("stepscope_plugin");
    if (!entry)
        return profiler::fail<"plugin.no_symbol", "this library is not a plug-in: it does not export stepscope_plugin">(
            Error::Code::Invalid, options.path, "end one of its source files with STEPSCOPE_PLUGIN(title, make)");
    const Plugin* plugin = entry();
    if (plugin->version != stepscope::kPluginVersion || std::string(plugin->torchVersion) != TORCH_VERSION)
        return profiler::fail<"plugin.other_version",
                              "the plug-in was built for version {version} of the plug-in interface and LibTorch "
                              "{torch}, but this trainer has version {own_version} and LibTorch {own_torch}">(
            Error::Code::Unsupported, options.path,
            "rebuild it with this trainer's trainer/plugin/stepscope_plugin.h and LibTorch",
            {{"version", plugin->version},
             {"torch", plugin->torchVersion},
             {"own_version", stepscope::kPluginVersion},
             {"own_torch", TORCH_VERSION}});
    return plugin;
}

class Plugged final : public Network {
public:
    Plugged(const ModelOptions& options, const Plugin& plugin) : m_options(options)
    {
        stepscope::PluginData data{.inputs = {}, .target = options.data.target.shape, .classes = options.data.classes};
        for (const data::ArraySpec& input : options.data.inputs)
            data.inputs.push_back(input.shape);
        m_model = plugin.make(data);
        if (!m_model)
            profiler::throwError<"plugin.no_model", "The plug-in's make function returned no model">(
                Error::Code::Invalid, options.path, "return a model from the function passed to STEPSCOPE_PLUGIN");
        register_module("model", m_model);
    }

    Pass forward(const BatchTensors& batch) override
    {
        std::vector<at::Tensor> inputs = batch.inputs;
        if (objective() == Objective::Given)
            inputs.push_back(batch.target);
        Pass pass{m_model->forward(inputs), batch.target};
        checkAnswer(m_options, pass);
        return pass;
    }
    [[nodiscard]] Objective objective() const override { return objectiveOf(m_options); }

private:
    ModelOptions m_options;
    std::shared_ptr<stepscope::PluginModel> m_model;
};

profiler::Result<void> check(const ModelOptions& options)
{
    if (const auto plugin = describe(options); !plugin)
        return tl::unexpected(plugin.error());
    return checkShapes(options);
}

std::shared_ptr<Network> make(const ModelOptions& options)
{
    const auto plugin = describe(options);
    if (!plugin)
        throw profiler::Failure(plugin.error());
    return std::make_shared<Plugged>(options, **plugin);
}

} // namespace

Workload plugin()
{
    using enum data::DataKind;
    return {
        "Plug-in",
        "Your own C++ model (model.path, a shared library; see resources/examples/plugin), trained with the loss in "
        "model.loss. It contains code: it runs only if model.trusted_sha256 is its SHA-256.",
        {Images, Tokens, Sequences, Rows},
        make,
        check};
}

} // namespace trainer::workloads
