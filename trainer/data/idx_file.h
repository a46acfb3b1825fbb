#pragma once

#include "profiler/model/result.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

namespace trainer::data {

/// An IDX file of unsigned bytes (the format of MNIST and of sets made like it).
struct IdxArray {
    std::vector<std::int64_t> dimensions; ///< outermost first
    std::vector<std::uint8_t> values;     ///< row by row
};

/// Reads an IDX file, compressed by gzip or not. Checks the header, and that the file holds exactly what the header
/// says; memory grows with what is really there.
/// @param dimensions  how many the file must have
profiler::Result<IdxArray> readIdx(const std::filesystem::path& path, std::size_t dimensions);

/// Writes an IDX file of unsigned bytes, not compressed.
profiler::Result<void> writeIdx(const std::filesystem::path& path, const IdxArray& array);

} // namespace trainer::data
