#include "trainer/workloads/parts/compiled_model.h"

#include "profiler/model/result.h"
#include "profiler/os/files.h"
#include "profiler/os/libraries.h"
#include "trainer/session/progress.h"
#include "trainer/workloads/parts/model_file.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>
#include <unordered_map>

namespace trainer {

namespace key = config::key;
using config::protocol::Notice;
using profiler::message;

namespace {

/// A copy of the verified bytes, because the file itself may change before it is loaded. The loader unpacks it.
class TemporaryFile {
public:
    explicit TemporaryFile(const std::string& content)
    {
        const char* folder = std::getenv("TMPDIR");
        const std::string prefix = std::string(folder && *folder ? folder : "/tmp") + "/stepscope-";
        auto made = profiler::os::createTemporaryFile(prefix, ".pt2");
        if (!made)
            profiler::throwError<"package.no_temporary_file", "its temporary copy {file} cannot be created: {why}">(
                profiler::Error::Code::Io, prefix, "set TMPDIR to a writable folder",
                {{"file", prefix}, {"why", std::strerror(errno)}});
        m_path = made->path;
        if (profiler::os::writeAll(made->file.get(), content).error != 0) {
            remove();
            profiler::throwError<"package.no_room", "there is no space for its temporary copy {file}">(
                profiler::Error::Code::NoSpace, m_path, "free space there, or set TMPDIR to another folder",
                {{"file", m_path}});
        }
    }
    ~TemporaryFile() { remove(); }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    [[nodiscard]] const std::string& path() const { return m_path; }

private:
    void remove() const
    {
        std::error_code ignored;
        std::filesystem::remove(m_path, ignored);
    }
    std::string m_path;
};

/// Scalars and vectors up to this size become part of the compiled code, unless PyTorch is configured otherwise.
/// Source: torch/_inductor/graph.py, get_attr and can_inline_constant.
constexpr std::int64_t kWrittenIntoCode = 8;

/// Packages are linked to all LibTorch libraries, but this program loads only the ones it needs, and packages search in
/// the system's folders.
void openWholeLibTorch()
{
    using profiler::os::Library;
    const auto library = profiler::os::folderOfLoadedLibrary("libtorch_cpu.so") / "libtorch.so";
    if (!Library::open(library.c_str(), Library::Binding::Lazy, Library::Scope::Global))
        profiler::throwError<"package.no_libtorch", "the LibTorch libraries that it needs cannot be loaded: {why}">(
            profiler::Error::Code::Unavailable, {}, "reinstall LibTorch", {{"why", Library::lastError()}});
}

std::string reason(const std::exception& failure)
{
    const auto* error = dynamic_cast<const c10::Error*>(&failure);
    const std::string text = error ? error->what_without_backtrace() : failure.what();
    return text.substr(0, text.find('\n'));
}

/// Names as in Python; a TorchScript module's names have slashes here.
std::string pythonName(std::string name)
{
    std::replace(name.begin(), name.end(), '/', '.');
    return name;
}

template <class T>
std::string textOf(const T& value)
{
    std::ostringstream text;
    text << value;
    return text.str();
}

std::string shapesOf(const BatchTensors& batch)
{
    std::ostringstream text;
    for (const at::Tensor& input : batch.inputs)
        text << (text.tellp() == 0 ? "" : ", ") << input.sizes();
    return text.str();
}

} // namespace

std::unique_ptr<CompiledModel> CompiledModel::open(const config::TrainingConfig& config, Network& network,
                                                   c10::Device device)
{
    const std::string path = config[key::evalPackage];
    if (path.empty())
        return nullptr;
    // With half precision on either side, three digits are reliable.
    std::unique_ptr<CompiledModel> model(new CompiledModel(network, device, config[key::amp] == "off" ? 0.01 : 0.05));
    model->m_path = path;
    const auto content =
        readTrusted(CodeFile{path, config[key::evalPackageSha256], key::evalPackage.name, key::evalPackageSha256.name});
    if (!content) {
        model->giveUp(content.error().what, content.error().hint);
        return model;
    }
    try {
        model->load(*content);
    } catch (const profiler::Failure& failure) {
        model->giveUp(failure.error().what, failure.error().hint);
    } catch (const std::exception& failure) {
        model->giveUp(
            message<"package.not_loaded", "this LibTorch cannot load the package: {why}">({{"why", reason(failure)}}),
            "create it with torch._inductor.aoti_compile_and_package of PyTorch 2.11");
    }
    return model;
}

CompiledModel::CompiledModel(Network& network, c10::Device device, double tolerance)
    : m_network(network), m_device(device), m_tolerance(tolerance)
{
}

CompiledModel::~CompiledModel() = default;

void CompiledModel::giveUp(const profiler::Message& why, const std::string& hint)
{
    m_package.reset();
    m_notice = notice(Notice::Severity::Warning,
                      message<"validation.uncompiled", "Validation runs without the compiled model: {why}">(
                          {{"why", why.text}, {"error", why.id}}),
                      m_path, hint);
}

void CompiledModel::load(const std::string& content)
{
    using torch::inductor::AOTIModelPackageLoader;
    // Otherwise compiled code assumes the shapes that it was compiled for, and reads beyond the end of smaller inputs.
    ::setenv("AOTI_RUNTIME_CHECK_INPUTS", "1", 1);
    const TemporaryFile file(content);
    const auto metadata = AOTIModelPackageLoader::load_metadata_from_package(file.path(), "model");
    const auto made = metadata.find("AOTI_DEVICE_KEY");
    const std::string here = m_device.is_cpu() ? "cpu" : "cuda";
    if (made != metadata.end() && made->second != here)
        return giveUp(
            message<"package.device", "it was compiled for the device {package}, but the training runs on {here}">(
                {{"package", made->second}, {"here", here}}),
            "export and compile the model on the device of the training");
    openWholeLibTorch();
    m_package = std::make_unique<AOTIModelPackageLoader>(
        file.path(), "model", false, 1, m_device.has_index() ? m_device.index() : c10::DeviceIndex(-1));
    checkWeights();
}

void CompiledModel::checkWeights()
{
    std::vector<std::string> names = m_package->get_constant_fqns();
    std::sort(names.begin(), names.end());
    std::string lacking, written;
    const auto look = [&](const std::string& key, const at::Tensor& tensor, bool isBuffer) {
        const std::string name = pythonName(key);
        if (std::binary_search(names.begin(), names.end(), name))
            return;
        if (tensor.dim() <= 1 && tensor.numel() <= kWrittenIntoCode && tensor.is_floating_point())
            written = name;
        else if (!isBuffer) // weights that the forward pass does not need may be missing
            lacking = name;
    };
    for (const auto& item : m_network.named_parameters())
        look(item.key(), item.value(), false);
    for (const auto& item : m_network.named_buffers())
        look(item.key(), item.value(), true);
    if (!lacking.empty())
        giveUp(message<"package.no_weight", "it belongs to another model: it has no weight "
                                            "'{weight}'">({{"weight", lacking}}),
               "compile the model that is trained here, or leave eval.package empty");
    else if (!written.empty())
        giveUp(message<"package.constant_weight",
                       "the values of '{weight}' are compiled into its code, where training cannot change them">(
                   {{"weight", written}}),
               "compile it with inductor_configs={\"always_keep_tensor_constants\": True}");
}

void CompiledModel::updateWeights()
{
    if (!std::exchange(m_stale, false))
        return;
    std::vector<std::string> names = m_package->get_constant_fqns();
    std::sort(names.begin(), names.end());
    std::unordered_map<std::string, at::Tensor> weights;
    const auto add = [&](const std::string& name, const at::Tensor& tensor) {
        if (std::binary_search(names.begin(), names.end(), pythonName(name)))
            weights.emplace(pythonName(name), tensor.detach().contiguous());
    };
    for (const auto& item : m_network.named_parameters())
        add(item.key(), item.value());
    for (const auto& item : m_network.named_buffers())
        add(item.key(), item.value());
    // The package's own constants are not changed.
    m_package->load_constants(weights, false, false);
}

std::optional<at::Tensor> CompiledModel::run(const BatchTensors& batch)
{
    const at::NoGradGuard noGradients;
    try {
        updateWeights();
        const auto answers = m_package->run(batch.inputs);
        if (!answers.empty() && answers[0].dim() > 0 && answers[0].size(0) == batch.count)
            return answers[0];
    } catch (const c10::OutOfMemoryError&) {
        throw;
    } catch (const std::exception&) {
        // It prints the details to stderr; the exception only says that there was an error.
    }
    return std::nullopt;
}

Pass CompiledModel::compared(const BatchTensors& batch, Pass own)
{
    m_compared = true;
    if (own.targets.const_data_ptr() != batch.target.const_data_ptr()) {
        giveUp(message<"package.own_targets", "this model makes its own targets, which a package cannot do">(),
               "leave eval.package empty");
        return own;
    }
    const auto answer = run(batch);
    if (!answer) {
        giveUp(message<"package.inputs", "it does not accept inputs of shape {shape}">({{"shape", shapesOf(batch)}}),
               "export it with an example of that shape and a dynamic first dimension");
        return own;
    }
    if (answer->sizes() != own.predictions.sizes()) {
        giveUp(message<"package.outputs", "it returns {package}, but the model returns {model}">(
                   {{"package", textOf(answer->sizes())}, {"model", textOf(own.predictions.sizes())}}),
               "compile the model that is trained here");
        return own;
    }
    const at::Tensor truth = own.predictions.detach().to(at::kFloat);
    const double largest = truth.abs().max().item<double>();
    const double worst = (answer->to(at::kFloat) - truth).abs().max().item<double>();
    // Written with <= so that NaN counts as a difference.
    if (!(worst <= m_tolerance * largest)) {
        giveUp(message<"package.numbers", "its results differ from the model's by {worst}, while the largest value is "
                                          "{largest}">(
                   {{"worst", worst, textOf(worst)}, {"largest", largest, textOf(largest)}}),
               "compile the model that is trained here, in evaluation mode");
        return own;
    }
    m_notice = notice(
        Notice::Severity::Info,
        message<"validation.compiled", "Validation runs the compiled model; its first batch was checked">(), m_path);
    return own;
}

Pass CompiledModel::forward(const BatchTensors& batch, const std::function<Pass()>& model)
{
    if (!m_package)
        return model();
    if (!m_compared)
        return compared(batch, model());
    if (auto answer = run(batch))
        return {std::move(*answer), batch.target};
    if (!std::exchange(m_shapesReported, true))
        m_notice = notice(Notice::Severity::Warning,
                          message<"validation.batch_refused",
                                  "The compiled model does not accept a batch of {batch}: the model itself runs such "
                                  "batches">({{"batch", batch.count}}),
                          m_path, "export it with a dynamic first dimension");
    return model();
}

std::optional<Notice> CompiledModel::takeNotice()
{
    return std::exchange(m_notice, std::nullopt);
}

} // namespace trainer
