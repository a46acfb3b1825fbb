#pragma once

#include <cstdint>
#include <filesystem>

namespace trainer {

/// Cores that this process may use: its CPU affinity, limited by the CPU quota of its control group (v2 or v1). At
/// least 1.
/// @param root  "/" except in tests
int usableCores(const std::filesystem::path& root = "/");
/// Current and peak memory of the process in bytes (resident set).
std::int64_t residentBytes();
std::int64_t peakResidentBytes();

} // namespace trainer
