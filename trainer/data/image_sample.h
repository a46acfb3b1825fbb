#pragma once

#include "profiler/model/result.h"
#include "trainer/data/dataset.h"
#include "trainer/data/resample.h"

#include <cstdint>
#include <span>

namespace trainer::data {

/// How image files are prepared for the model.
struct ImageView {
    int edge = 0; ///< px
    Normalisation normalisation = kImageNet;
};

/// Decodes a JPEG or PNG file at the smallest sufficient scale, crops (at random with a seed, otherwise at the centre),
/// resizes, flips and normalises it. Thread-safe.
/// @param index  of the sample, for the recorded stages
/// @param out  3 × edge × edge
/// @return the error describes the problem; the caller adds the file
profiler::Result<void> loadImage(std::span<const std::uint8_t> file, const ImageView& view, std::uint64_t augmentSeed,
                                 std::int64_t index, std::span<float> out, const StageRecorder& stages);

} // namespace trainer::data
