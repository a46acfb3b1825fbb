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

/// No volume may have more values.
inline constexpr std::int64_t kMostVoxels = std::int64_t{1} << 30;

/// Inflates what begins like a .gz file; gives anything else back as it is.
/// @param most  bytes that may come out
profiler::Result<std::span<const std::uint8_t>> inflated(std::span<const std::uint8_t> file,
                                                         std::vector<std::uint8_t>& space, std::size_t most,
                                                         const std::string& where);

/// Reads a NIfTI file in memory (version 1 or 2, one file, little-endian), scaled by its own slope and intercept. A
/// fourth dimension becomes channels.
/// @param bytes  inflated
/// @param out  its memory is used again
/// @return errors say what is wrong with `where`: cut off, an element type that is not known
profiler::Result<void> parseNifti(std::span<const std::uint8_t> bytes, const std::string& where, Volume& out);

/// A NIfTI-1 file of floats, or of bytes where `labels`; compressed where the name ends in .gz.
profiler::Result<void> writeNifti(const std::filesystem::path& path, const Volume& volume, bool labels);

} // namespace trainer::data
