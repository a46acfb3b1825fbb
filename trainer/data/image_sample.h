#pragma once

#include "profiler/model/result.h"
#include "trainer/data/dataset.h"
#include "trainer/data/resample.h"

#include <cstdint>
#include <span>

namespace trainer::data {

/// How image files are shown to the model.
struct ImageView {
    int edge = 0; ///< px
    Normalisation normalisation = kImageNet;
};

/// Decodes a JPEG or PNG file at the smallest scale that is enough, crops (at random with a seed, else the middle),
/// resizes, mirrors and normalises it. Any number of threads.
/// @param index  of the sample, for the stages
/// @param out  3 × edge × edge
/// @return the error says what is wrong with the file, the caller knows which it is
profiler::Result<void> loadImage(std::span<const std::uint8_t> file, const ImageView& view, std::uint64_t augmentSeed,
                                 std::int64_t index, std::span<float> out, const StageRecorder& stages);

} // namespace trainer::data
