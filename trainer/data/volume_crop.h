#pragma once

#include "trainer/data/nifti_file.h"

#include <array>
#include <cstdint>
#include <span>

namespace trainer::data {

/// Which part of a volume the model sees, and how: a cube, turned, scaled and mirrored.
struct VolumeView {
    std::array<double, 3> centre{};              ///< in voxels of the volume: depth, height, width
    std::array<std::array<double, 3>, 3> step{}; ///< way in the volume for a step along each axis of the cube
    float gain = 1, shift = 0, noise = 0;        ///< of the values
    std::uint64_t noiseSeed = 0;
};

/// The middle, as it is.
VolumeView centreView(const Volume& volume);
/// Turned about a random axis by up to 30°, scaled by 0.8 to 1.25, mirrored along each axis half of the time, anywhere
/// in the volume; brighter or darker, with noise: the augmentation that nnU-Net trains with (Isensee et al., 2021),
/// without its elastic part.
/// @param edge  of the cube
VolumeView randomView(const Volume& volume, std::int64_t edge, std::uint64_t seed);
/// The place alone of such a view, at whole voxels.
VolumeView randomPlace(const Volume& volume, std::int64_t edge, std::uint64_t seed);

/// Values of a cube, interpolated between voxels; outside of the volume its nearest voxel goes on.
/// @param out  channels × edge × edge × edge
void cutValues(const Volume& volume, const VolumeView& view, std::int64_t edge, std::span<float> out);
/// Labels of a cube: those of the nearest voxels.
/// @param labels  one channel
/// @param out  edge × edge × edge
void cutLabels(const Volume& labels, const VolumeView& view, std::int64_t edge, std::span<std::int64_t> out);

} // namespace trainer::data
