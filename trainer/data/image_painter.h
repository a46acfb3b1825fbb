#pragma once

#include "trainer/data/image.h"

#include <cstdint>
#include <string>

namespace trainer::data {

/// So many classes can be told apart.
inline constexpr std::int64_t kMostPaintedClasses = 1000;

/// "0003_cross_dashes_horizontal_bars": sorts by class.
std::string paintedClassName(std::int64_t paintedClass);

/// Paints a picture of a class: a shape filled with a pattern in a direction before a background. Class decides these
/// four; colours, place, size, turn, spacing and photo-like noise are random. Mirroring a picture leaves its class.
/// With few classes each of the four differs from class to class, so that a small network learns them in a few epochs.
/// @param paintedClass  0 … kMostPaintedClasses − 1
void paintImage(std::int64_t paintedClass, std::uint64_t seed, int edge, RgbImage& out);

} // namespace trainer::data
