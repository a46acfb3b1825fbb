#include "trainer/session/saved_state.h"

#include "profiler/model/failure.h"

#include <ATen/ATen.h>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <random>
#include <torch/csrc/jit/serialization/pickle.h>
#include <unistd.h>

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

/// @param part  the file to write; renamed to `path`, which errors mention, once it is complete
void writeDown(const std::vector<char>& bytes, const fs::path& part, const fs::path& path)
{
    const int file = ::open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file < 0)
        throwNotWritten(std::strerror(errno), path);
    std::size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t written = ::write(file, bytes.data() + done, bytes.size() - done);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            break;
        done += static_cast<std::size_t>(written);
    }
    const bool complete = done == bytes.size() && ::fsync(file) == 0;
    const int reason = errno;
    ::close(file);
    if (!complete)
        throwNotWritten(std::strerror(reason), path);
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
    const fs::path part =
        path.string() + "." + std::to_string(::getpid()) + "-" + std::to_string(std::random_device{}()) + ".part";
    writeDown(torch::jit::pickle_save(all), part, path);
    std::error_code failed;
    fs::rename(part, path, failed);
    if (failed)
        throwNotWritten(failed.message(), path);
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
