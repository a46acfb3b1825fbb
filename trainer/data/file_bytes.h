#pragma once

#include "profiler/model/result.h"

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace trainer::data {

/// Reads a whole file into `out`, reusing its memory. Rejects files larger than 512 MB.
profiler::Result<void> readFile(const std::filesystem::path& path, std::vector<std::uint8_t>& out);

/// Writes `path` + ".tmp" and renames it, so that `path` is either complete or missing. Leaves nothing behind on
/// failure.
profiler::Result<void> writeFile(const std::filesystem::path& path, std::span<const std::uint8_t> bytes);

/// "cannot be read: Permission denied" for an errno value, with a matching code.
profiler::Error fileError(int errorNumber, const std::string& doing, const std::filesystem::path& path);

} // namespace trainer::data
