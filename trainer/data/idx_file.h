#pragma once

#include "profiler/model/result.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

namespace trainer::data {

/// An IDX file of unsigned bytes (the format of MNIST and similar datasets).
struct IdxArray {
    std::vector<std::int64_t> dimensions; ///< outermost first
    std::vector<std::uint8_t> values;     ///< row by row
};

/// Reads an IDX file, with or without gzip compression. Checks that the file contains exactly what its header declares;
/// memory grows only with the actual contents.
/// @param dimensions  number of dimensions that the file must have
profiler::Result<IdxArray> readIdx(const std::filesystem::path& path, std::size_t dimensions);

/// Writes an uncompressed IDX file of unsigned bytes.
profiler::Result<void> writeIdx(const std::filesystem::path& path, const IdxArray& array);

} // namespace trainer::data
