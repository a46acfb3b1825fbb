#pragma once

#include "profiler/model/result.h"

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace trainer::data {

/// Reads a whole file into `out`, whose memory is used again. Files beyond 512 MB are refused.
profiler::Result<void> readFile(const std::filesystem::path& path, std::vector<std::uint8_t>& out);

/// Writes `path` + ".tmp" and renames it, so that `path` is whole or not there. Nothing is left behind on failure.
profiler::Result<void> writeFile(const std::filesystem::path& path, std::span<const std::uint8_t> bytes);

/// "cannot be read: Permission denied" for an errno value, with a fitting code.
profiler::Error fileError(int errorNumber, const std::string& doing, const std::filesystem::path& path);

} // namespace trainer::data
