#pragma once

#include <cstdint>
#include <filesystem>

namespace trainer {

/// Cores that this process may use: its affinity, bounded by the processor quota of its control group (v2 or v1). At
/// least 1.
/// @param root  "/" but in tests
int usableCores(const std::filesystem::path& root = "/");
/// Bytes of memory that the process holds now and held at most (resident set).
std::int64_t residentBytes();
std::int64_t peakResidentBytes();

} // namespace trainer
