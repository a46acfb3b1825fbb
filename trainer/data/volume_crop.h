#pragma once

#include "trainer/data/nifti_file.h"

#include <array>
#include <cstdint>
#include <span>

namespace trainer::data {

/// The part of a volume for the model: a cube, rotated, scaled and flipped.
struct VolumeView {
    std::array<double, 3> centre{};              ///< in voxels of the volume: depth, height, width
    std::array<std::array<double, 3>, 3> step{}; ///< step in the volume per step along each axis of the cube
    float gain = 1, shift = 0, noise = 0;        ///< of the values
    std::uint64_t noiseSeed = 0;
};

/// The centre, unchanged.
VolumeView centreView(const Volume& volume);
/// Rotated about a random axis by up to 30°, scaled by 0.8 to 1.25, flipped along each axis half of the time, at a
/// random position; with changed brightness and noise: nnU-Net's augmentation (Isensee et al., 2021) without its
/// elastic deformation.
/// @param edge  of the cube
VolumeView randomView(const Volume& volume, std::int64_t edge, std::uint64_t seed);
/// Only the random position of such a view, at whole voxels.
VolumeView randomPlace(const Volume& volume, std::int64_t edge, std::uint64_t seed);

/// Values of a cube, interpolated between voxels; outside the volume, the nearest voxel is repeated.
/// @param out  channels × edge × edge × edge
void cutValues(const Volume& volume, const VolumeView& view, std::int64_t edge, std::span<float> out);
/// Labels of a cube, from the nearest voxels.
/// @param labels  one channel
/// @param out  edge × edge × edge
void cutLabels(const Volume& labels, const VolumeView& view, std::int64_t edge, std::span<std::int64_t> out);

} // namespace trainer::data
