#pragma once

#include "trainer/data/image.h"

#include <cstdint>
#include <string>

namespace trainer::data {

/// Number of distinguishable classes.
inline constexpr std::int64_t kMostPaintedClasses = 1000;

/// "0003_cross_dashes_horizontal_bars": sorts by class.
std::string paintedClassName(std::int64_t paintedClass);

/// Paints an image of a class: a shape filled with a pattern in a direction on a background. The class determines these
/// four; colours, place, size, rotation, spacing and photo-like noise are random. Flipping an image does not change its
/// class. With few classes, each of the four differs between classes, so that a small network learns them in a few
/// epochs.
/// @param paintedClass  0 … kMostPaintedClasses − 1
void paintImage(std::int64_t paintedClass, std::uint64_t seed, int edge, RgbImage& out);

} // namespace trainer::data
