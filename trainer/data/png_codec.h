#pragma once

#include "profiler/model/result.h"
#include "trainer/data/image.h"

#include <cstdint>
#include <span>

namespace trainer::data {

/// Reads the header only. Errors describe the problem; the caller adds the file.
profiler::Result<ImageSize> measurePng(std::span<const std::uint8_t> file);
/// Decodes any PNG to 8-bit RGB; transparency is blended with white.
profiler::Result<void> decodePng(std::span<const std::uint8_t> file, RgbImage& out);

} // namespace trainer::data
