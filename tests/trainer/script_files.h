#pragma once

#include <filesystem>

namespace trainer_test {

/// Writes a TorchScript file: a linear layer "fc" from `in` numbers to `out`, over the flattened first input.
void writeLinearScript(const std::filesystem::path& path, int in, int out);
/// The same, but it flattens with view(), which goes by the order of the dimensions in memory.
void writeViewScript(const std::filesystem::path& path, int in, int out);
/// Writes a TorchScript file that is called with input and target and gives a loss.
void writeLossScript(const std::filesystem::path& path, int in);

} // namespace trainer_test
