#include "profiler/model/failure.h"
#include "trainer/plugin/stepscope_plugin.h"
#include "trainer/workloads/network.h"
#include "trainer/workloads/parts/model_file.h"
#include "trainer/workloads/workload.h"

#include <dlfcn.h>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace trainer::workloads {

namespace {

using profiler::Error;
using profiler::Result;
using stepscope::Plugin;

/// Loads exactly the bytes that were hashed: an in-memory copy that cannot change in between. Never unloaded.
Result<void*> load(const std::string& path, const std::string& library)
{
    const auto failed = [&](const std::string& why) {
        return profiler::fail<"plugin.not_loaded", "the plug-in cannot be loaded: {why}">(
            Error::Code::Unsupported, path, "build it against LibTorch " TORCH_VERSION " with this trainer's compiler",
            {{"why", why}});
    };
    const int file = ::memfd_create("stepscope-plugin", MFD_CLOEXEC);
    if (file < 0)
        return failed("out of memory for a copy of it");
    const bool written = ::write(file, library.data(), library.size()) == static_cast<ssize_t>(library.size());
    void* handle =
        written ? ::dlopen(("/proc/self/fd/" + std::to_string(file)).c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
    const std::string why = handle ? "" : written ? ::dlerror() : "its copy in memory is incomplete";
    ::close(file);
    if (!handle)
        return failed(why);
    return handle;
}

/// The library's description, if it was built for this trainer.
Result<const Plugin*> describe(const ModelOptions& options)
{
    const auto library = readTrusted(options);
    if (!library)
        return tl::unexpected(library.error());
    const auto handle = load(options.path, *library);
    if (!handle)
        return tl::unexpected(handle.error());
    const auto entry = reinterpret_cast<const Plugin* (*)()>(::dlsym(*handle, "stepscope_plugin"));
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
