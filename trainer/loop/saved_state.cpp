#include "trainer/loop/saved_state.h"

#include <ATen/ATen.h>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <random>
#include <stdexcept>
#include <torch/csrc/jit/serialization/pickle.h>
#include <unistd.h>

namespace trainer {

namespace fs = std::filesystem;
using Dict = c10::impl::GenericDict;

namespace {

std::runtime_error problem(const std::string& what, const fs::path& path)
{
    return std::runtime_error(what + ": " + path.string());
}

template <class Value>
Dict dictOf(const std::map<std::string, Value>& values, const c10::TypePtr& type)
{
    Dict dict(c10::StringType::get(), type);
    for (const auto& [name, value] : values)
        dict.insert(name, value);
    return dict;
}

void writeDown(const std::vector<char>& bytes, const fs::path& path)
{
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file < 0)
        throw problem(std::string("The checkpoint cannot be written (") + std::strerror(errno) + ")", path);
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
        throw problem(std::string("The checkpoint cannot be written (") + std::strerror(reason) + ")", path);
}

} // namespace

std::int64_t SavedState::integer(const std::string& name) const
{
    const auto found = numbers.find(name);
    if (found == numbers.end())
        throw std::runtime_error("The checkpoint has no number '" + name + "'");
    return static_cast<std::int64_t>(found->second);
}

const at::Tensor& SavedState::tensor(const std::string& name) const
{
    const auto found = tensors.find(name);
    if (found == tensors.end())
        throw std::runtime_error("The checkpoint is of another model or optimizer: it has no '" + name + "'");
    return found->second;
}

void save(const SavedState& state, const fs::path& path)
{
    Dict all(c10::StringType::get(), c10::AnyType::get());
    all.insert("tensors", dictOf(state.tensors, c10::TensorType::get()));
    all.insert("numbers", dictOf(state.numbers, c10::FloatType::get()));
    all.insert("texts", dictOf(state.texts, c10::StringType::get()));
    std::error_code ignored;
    fs::create_directories(path.parent_path(), ignored); // opening the file says what is wrong
    const fs::path beside =
        path.string() + "." + std::to_string(::getpid()) + "-" + std::to_string(std::random_device{}()) + ".part";
    writeDown(torch::jit::pickle_save(all), beside);
    std::error_code failed;
    fs::rename(beside, path, failed);
    if (failed)
        throw problem("The checkpoint cannot be put in its place (" + failed.message() + ")", path);
}

SavedState loadState(const fs::path& path)
{
    std::ifstream file(path, std::ios::binary);
    if (!file)
        throw problem(std::string("The checkpoint cannot be read (") + std::strerror(errno) + ")", path);
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
        throw problem("This is no checkpoint of a training, or only a part of one", path);
    }
    return state;
}

} // namespace trainer
