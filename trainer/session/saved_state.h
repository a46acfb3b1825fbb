#pragma once

#include <ATen/core/Tensor.h>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

namespace trainer {

/// The complete state of a training, as stored in a file: everything that the next step depends on.
struct SavedState {
    std::map<std::string, at::Tensor> tensors; ///< weights, optimizer, generators…; on the CPU
    std::map<std::string, double> numbers;     ///< step, epoch, sums of the meter…
    std::map<std::string, std::string> texts;  ///< workload, optimizer: identify the training of this state

    /// Each throws profiler::Failure if the name does not exist.
    [[nodiscard]] double number(const std::string& name) const;
    [[nodiscard]] std::int64_t integer(const std::string& name) const;
    [[nodiscard]] const at::Tensor& tensor(const std::string& name) const;
};

/// Writes a pickle of tensors and numbers, which Python's torch.load reads with weights_only. Complete on the disk when
/// it returns: written to a temporary file in the same folder and renamed. Throws profiler::Failure with the file.
void save(const SavedState& state, const std::filesystem::path& path);
/// Throws profiler::Failure with the file and the problem. Does not execute code from the file.
SavedState loadState(const std::filesystem::path& path);

} // namespace trainer
