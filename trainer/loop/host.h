#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace trainer {

/// Cores that this process may use: its affinity, bounded by the processor quota of its control group (v2 or v1). At
/// least 1.
/// @param root  "/" but in tests
int usableCores(const std::filesystem::path& root = "/");
/// The processor's name, "unknown" where the kernel does not tell.
std::string processorName();
/// Names of its instruction sets as the kernel lists them: "… avx512f … avx512_bf16 …"; empty where it does not.
std::string processorFlags();
/// Bytes of memory that the process holds now and held at most (resident set).
std::int64_t residentBytes();
std::int64_t peakResidentBytes();

} // namespace trainer
