#include "trainer/workloads/parts/model_file.h"

#include "profiler/model/result.h"
#include "trainer/data/file_bytes.h"

#include <ATen/core/Tensor.h>
#include <array>
#include <charconv>
#include <memory>
#include <openssl/evp.h>
#include <optional>

namespace trainer {

using profiler::Error;
using profiler::Result;

namespace {

std::string shapeText(at::IntArrayRef shape)
{
    std::string text;
    for (const std::int64_t size : shape)
        text += (text.empty() ? "" : " × ") + std::to_string(size);
    return text.empty() ? "a number" : text;
}

/// Parses "3,32,32;128" as shapes; nullopt for anything else.
std::optional<std::vector<std::vector<std::int64_t>>> parseShapes(const std::string& text)
{
    std::vector<std::vector<std::int64_t>> shapes(1);
    const char* at = text.data();
    const char* const end = at + text.size();
    for (;;) {
        std::int64_t size = 0;
        const auto [rest, failed] = std::from_chars(at, end, size);
        if (failed != std::errc() || size < 1)
            return std::nullopt;
        shapes.back().push_back(size);
        if (rest == end)
            return shapes;
        if (*rest != ',' && *rest != ';')
            return std::nullopt;
        if (*rest == ';')
            shapes.emplace_back();
        at = rest + 1;
    }
}

} // namespace

std::string sha256(const std::string& bytes)
{
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned int size = 0;
    if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1)
        profiler::throwError<"model_file.no_sha256", "OpenSSL does not provide SHA-256 on this machine">(
            Error::Code::Unsupported, {}, "check the configuration of OpenSSL (OPENSSL_CONF)");
    constexpr const char* kDigits = "0123456789abcdef";
    std::string text;
    for (unsigned int i = 0; i < size; ++i) {
        text += kDigits[digest[i] >> 4];
        text += kDigits[digest[i] & 15];
    }
    return text;
}

Result<std::string> readTrusted(const CodeFile& file)
{
    if (file.path.empty())
        return profiler::fail<"model_file.none_chosen", "no model file is chosen">(
            Error::Code::Invalid, std::string(file.pathKey), "set it to the file of your model");
    std::vector<std::uint8_t> bytes;
    if (auto read = data::readFile(file.path, bytes); !read)
        return tl::unexpected(read.error());
    std::string content(bytes.begin(), bytes.end());
    const std::string hash = sha256(content);
    if (hash == file.trustedSha256)
        return content;
    const std::string why = file.trustedSha256.empty() ? "this file has not been trusted yet"
                                                       : "another file is trusted, with SHA-256 " + file.trustedSha256;
    return profiler::fail<"model_file.untrusted",
                          "a model file contains code that runs with your permissions; {why}. Its SHA-256 is {hash}">(
        Error::Code::Permission, file.path, "if you trust its source, set " + std::string(file.trustKey) + "=" + hash,
        {{"why", why}, {"hash", hash}});
}

Result<std::string> readTrusted(const ModelOptions& options)
{
    return readTrusted(CodeFile{.path = options.path, .trustedSha256 = options.trustedSha256});
}

Objective objectiveOf(const ModelOptions& options)
{
    if (options.loss == "given")
        return Objective::Given;
    if (options.loss == "mse")
        return Objective::Numbers;
    if (options.data.kind == data::DataKind::Tokens)
        return Objective::Tokens;
    return options.data.target.shape.empty() ? Objective::Classes : Objective::Segments;
}

Result<void> checkShapes(const ModelOptions& options)
{
    const auto failed = [&](profiler::Message what, std::string hint) {
        return tl::unexpected(Error{Error::Code::Invalid, std::move(what), options.path, std::move(hint)});
    };
    const bool classes = options.data.target.dtype == data::Dtype::Int64;
    if (options.loss != "given" && classes != (options.loss == "cross_entropy"))
        return failed(
            profiler::message<"model_file.loss", "model.loss={loss} does not match the dataset's targets, {targets}">(
                {{"loss", options.loss}, {"targets", toText(options.data.target)}}),
            classes ? "set model.loss=cross_entropy" : "set model.loss=mse");
    if (options.inputShapes.empty())
        return {};
    const auto wanted = parseShapes(options.inputShapes);
    if (!wanted)
        return failed(profiler::message<"model_file.shapes", "'{shapes}' is not a valid "
                                                             "list of shapes">({{"shapes", options.inputShapes}}),
                      "write model.input_shapes as 3,32,32 or, for two inputs, 128;128");
    std::string wants, gives;
    bool same = wanted->size() == options.data.inputs.size();
    for (const auto& shape : *wanted)
        wants += (wants.empty() ? "" : " and ") + shapeText(shape);
    for (std::size_t i = 0; i < options.data.inputs.size(); ++i) {
        same = same && (*wanted)[i] == options.data.inputs[i].shape;
        gives += (gives.empty() ? "" : " and ") + shapeText(options.data.inputs[i].shape);
    }
    if (!same)
        return failed(profiler::message<"model_file.inputs", "the model takes {wants}, but the dataset gives {gives}">(
                          {{"wants", wants}, {"gives", gives}}),
                      "choose another dataset or dataset.image_size, or correct model.input_shapes");
    return {};
}

void checkAnswer(const ModelOptions& options, const Pass& pass)
{
    const Objective objective = objectiveOf(options);
    const at::Tensor& answer = pass.predictions;
    const auto fails = [&](profiler::Message what) {
        throw profiler::Failure({Error::Code::Invalid, std::move(what), options.path,
                                 "choose the dataset or the model.loss that the model was made for, or another model"});
    };
    // Built only on failure, because this function runs in every step.
    using profiler::MessageParameter;
    const auto output = [&] { return MessageParameter("output", shapeText(answer.sizes())); };
    const auto targets = [&] { return MessageParameter("targets", shapeText(pass.targets.sizes())); };
    const auto classes = [&] { return MessageParameter("classes", options.data.classes); };
    const std::int64_t dimensions = pass.targets.dim();
    if (objective == Objective::Given && answer.numel() != 1)
        fails(profiler::message<"model_file.no_loss",
                                "model.loss=given needs a scalar, the loss; the model returns {output}">({output()}));
    if (objective == Objective::Numbers && answer.sizes() != pass.targets.sizes())
        fails(profiler::message<"model_file.output_shape",
                                "model.loss=mse needs an output with the targets' shape, {targets}; the model returns "
                                "{output}">({targets(), output()}));
    if (objective == Objective::Tokens && (answer.dim() != dimensions + 1 || answer.size(-1) < options.data.classes))
        fails(profiler::message<"model_file.token_scores",
                                "The model must return a score for each of {classes} tokens in the last dimension; it "
                                "returns {output} for targets of {targets}">({classes(), output(), targets()}));
    if ((objective == Objective::Classes || objective == Objective::Segments) &&
        (answer.dim() != dimensions + 1 || answer.size(1) < options.data.classes))
        fails(profiler::message<"model_file.class_scores",
                                "The model must return a score for each of {classes} classes in the second dimension; "
                                "it returns {output} for targets of {targets}">({classes(), output(), targets()}));
}

} // namespace trainer
