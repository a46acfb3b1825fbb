#pragma once

#include "profiler/model/result.h"
#include "trainer/data/image.h"

#include <cstdint>
#include <span>

namespace trainer::data {

/// Reads the header only. Errors say what is wrong; the caller knows the file.
profiler::Result<ImageSize> measurePng(std::span<const std::uint8_t> file);
/// Any PNG to 8-bit RGB; transparency is laid on white.
profiler::Result<void> decodePng(std::span<const std::uint8_t> file, RgbImage& out);

} // namespace trainer::data
