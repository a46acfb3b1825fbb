#pragma once

#include <ATen/core/Tensor.h>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

namespace trainer {

/// Where a training stands, as a file holds it: everything that the next step depends on.
struct SavedState {
    std::map<std::string, at::Tensor> tensors; ///< weights, optimizer, generators…; on the processor
    std::map<std::string, double> numbers;     ///< step, epoch, sums of the meter…
    std::map<std::string, std::string> texts;  ///< workload, optimizer: to tell whose state it is

    /// Each throws profiler::Failure where there is none of that name.
    [[nodiscard]] double number(const std::string& name) const;
    [[nodiscard]] std::int64_t integer(const std::string& name) const;
    [[nodiscard]] const at::Tensor& tensor(const std::string& name) const;
};

/// As a pickle of tensors and numbers, which Python's torch.load reads with weights_only. Complete on the disk when it
/// returns: written beside `path` and renamed. Throws profiler::Failure that names the file.
void save(const SavedState& state, const std::filesystem::path& path);
/// Throws profiler::Failure that names the file and says what is wrong with it. Runs no code of the file.
SavedState loadState(const std::filesystem::path& path);

} // namespace trainer
