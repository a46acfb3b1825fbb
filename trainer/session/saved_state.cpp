#include "trainer/session/saved_state.h"

#include "profiler/model/result.h"
#include "profiler/os/files.h"

#include <ATen/ATen.h>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string_view>
#include <torch/csrc/jit/serialization/pickle.h>

namespace trainer {

namespace fs = std::filesystem;
using Dict = c10::impl::GenericDict;
using profiler::Error;
using profiler::throwError;

namespace {

[[noreturn]] void throwNotWritten(const std::string& why, const fs::path& path)
{
    throwError<"checkpoint.not_written", "The checkpoint cannot be written: {why}">(
        Error::Code::Io, path.string(), "set run.checkpoint_path to a writable folder with free space", {{"why", why}});
}

template <class Value>
Dict dictOf(const std::map<std::string, Value>& values, const c10::TypePtr& type)
{
    Dict dict(c10::StringType::get(), type);
    for (const auto& [name, value] : values)
        dict.insert(name, value);
    return dict;
}

} // namespace

double SavedState::number(const std::string& name) const
{
    const auto found = numbers.find(name);
    if (found == numbers.end())
        throwError<"checkpoint.no_number", "The checkpoint has no number '{name}'">(Error::Code::Malformed, {}, {},
                                                                                    {{"name", name}});
    return found->second;
}

std::int64_t SavedState::integer(const std::string& name) const
{
    return static_cast<std::int64_t>(number(name));
}

const at::Tensor& SavedState::tensor(const std::string& name) const
{
    const auto found = tensors.find(name);
    if (found == tensors.end())
        throwError<"checkpoint.no_tensor",
                   "The checkpoint belongs to another model or optimizer: it has no tensor '{name}'">(
            Error::Code::Invalid, {}, {}, {{"name", name}});
    return found->second;
}

void save(const SavedState& state, const fs::path& path)
{
    Dict all(c10::StringType::get(), c10::AnyType::get());
    all.insert("tensors", dictOf(state.tensors, c10::TensorType::get()));
    all.insert("numbers", dictOf(state.numbers, c10::FloatType::get()));
    all.insert("texts", dictOf(state.texts, c10::StringType::get()));
    std::error_code ignored;
    fs::create_directories(path.parent_path(), ignored); // opening the file reports any error
    auto file = profiler::os::ReplacementFile::create(path);
    if (!file)
        throwNotWritten(std::strerror(errno), path);
    const std::vector<char> bytes = torch::jit::pickle_save(all);
    int failed = file->write(std::string_view(bytes.data(), bytes.size()));
    if (failed == 0)
        failed = file->commit();
    if (failed != 0)
        throwNotWritten(std::strerror(failed), path);
}

SavedState loadState(const fs::path& path)
{
    std::ifstream file(path, std::ios::binary);
    if (!file)
        throwError<"checkpoint.not_read", "The checkpoint cannot be read: {why}">(
            Error::Code::Io, path.string(), "set run.resume to a readable checkpoint", {{"why", std::strerror(errno)}});
    const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
    SavedState state;
    try {
        const Dict all = torch::jit::pickle_load(bytes).toGenericDict();
        for (const auto& entry : all.at("tensors").toGenericDict())
            state.tensors.emplace(entry.key().toStringRef(), entry.value().toTensor());
        for (const auto& entry : all.at("numbers").toGenericDict())
            state.numbers.emplace(entry.key().toStringRef(), entry.value().toDouble());
        for (const auto& entry : all.at("texts").toGenericDict())
            state.texts.emplace(entry.key().toStringRef(), entry.value().toStringRef());
    } catch (const std::exception&) {
        throwError<"checkpoint.damaged", "The file is not a training checkpoint, or it is incomplete">(
            Error::Code::Malformed, path.string(), "set run.resume to another checkpoint");
    }
    return state;
}

} // namespace trainer
