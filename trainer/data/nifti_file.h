#pragma once

#include "profiler/model/result.h"

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace trainer::data {

/// A volume: channels × depth × height × width, width fastest.
struct Volume {
    std::int64_t channels = 0;
    std::array<std::int64_t, 3> size{}; ///< depth, height, width
    std::vector<float> values;
    [[nodiscard]] std::int64_t voxels() const { return size[0] * size[1] * size[2]; }
};

/// Maximum number of values in a volume.
inline constexpr std::int64_t kMostVoxels = std::int64_t{1} << 30;

/// Decompresses gzip data; returns anything else unchanged.
/// @param most  maximum number of decompressed bytes
profiler::Result<std::span<const std::uint8_t>> inflated(std::span<const std::uint8_t> file,
                                                         std::vector<std::uint8_t>& space, std::size_t most,
                                                         const std::string& where);

/// Reads a NIfTI file in memory (version 1 or 2, single file, little-endian), scaled by its own slope and intercept. A
/// fourth dimension becomes channels.
/// @param bytes  decompressed
/// @param out  its memory is reused
/// @return the error describes what is wrong with `where`: truncated, or an unknown element type
profiler::Result<void> parseNifti(std::span<const std::uint8_t> bytes, const std::string& where, Volume& out);

/// Writes a NIfTI-1 file of floats, or of bytes if `labels`; compressed if the name ends in .gz.
profiler::Result<void> writeNifti(const std::filesystem::path& path, const Volume& volume, bool labels);

} // namespace trainer::data
