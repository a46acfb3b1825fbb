#include "trainer/data/volume_crop.h"

#include "trainer/data/random.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace trainer::data {

namespace {

using Vector = std::array<double, 3>;
using Matrix = std::array<Vector, 3>;

constexpr double kMostTurn = std::numbers::pi / 6;
constexpr double kLeastScale = 0.8, kMostScale = 1.25;
constexpr float kMostGain = 0.25F, kMostShift = 0.1F, kMostNoise = 0.1F;

/// Rotation about an axis (Rodrigues' formula).
Matrix turn(Vector axis, double angle)
{
    const double length = std::hypot(axis[0], axis[1], axis[2]);
    for (double& part : axis)
        part /= length;
    const double c = std::cos(angle), s = std::sin(angle);
    Matrix matrix{};
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 3; ++j)
            matrix[i][j] = axis[i] * axis[j] * (1 - c) + (i == j ? c : 0);
    matrix[0][1] -= axis[2] * s;
    matrix[0][2] += axis[1] * s;
    matrix[1][0] += axis[2] * s;
    matrix[1][2] -= axis[0] * s;
    matrix[2][0] -= axis[1] * s;
    matrix[2][1] += axis[0] * s;
    return matrix;
}

/// Calls `visit(position in the volume, index in the cube)` for each voxel of the cube.
template <class Visit>
void forEachVoxel(const VolumeView& view, std::int64_t edge, Visit&& visit)
{
    const double half = static_cast<double>(edge - 1) / 2;
    std::size_t index = 0;
    for (std::int64_t z = 0; z < edge; ++z)
        for (std::int64_t y = 0; y < edge; ++y)
            for (std::int64_t x = 0; x < edge; ++x, ++index) {
                const Vector offset = {static_cast<double>(z) - half, static_cast<double>(y) - half,
                                       static_cast<double>(x) - half};
                Vector place = view.centre;
                for (std::size_t axis = 0; axis < 3; ++axis)
                    for (std::size_t i = 0; i < 3; ++i)
                        place[i] += view.step[axis][i] * offset[axis];
                visit(place, index);
            }
}

/// A position between two voxels along one axis.
struct Between {
    std::int64_t low, high;
    float share; ///< weight of the higher one
};

Between between(double place, std::int64_t size)
{
    const double inside = std::clamp(place, 0.0, static_cast<double>(size - 1));
    const auto low = static_cast<std::int64_t>(inside);
    return {low, std::min(low + 1, size - 1), static_cast<float>(inside - static_cast<double>(low))};
}

float interpolated(const float* values, const std::array<std::int64_t, 3>& size, const Vector& place)
{
    const Between z = between(place[0], size[0]), y = between(place[1], size[1]), x = between(place[2], size[2]);
    const auto row = [&](std::int64_t depth, std::int64_t height) {
        const float* from = values + (depth * size[1] + height) * size[2];
        return from[x.low] + x.share * (from[x.high] - from[x.low]);
    };
    const float near = row(z.low, y.low) + y.share * (row(z.low, y.high) - row(z.low, y.low));
    const float far = row(z.high, y.low) + y.share * (row(z.high, y.high) - row(z.high, y.low));
    return near + z.share * (far - near);
}

} // namespace

VolumeView centreView(const Volume& volume)
{
    VolumeView view;
    for (std::size_t axis = 0; axis < 3; ++axis) {
        view.centre[axis] = static_cast<double>(volume.size[axis] - 1) / 2;
        view.step[axis][axis] = 1;
    }
    return view;
}

VolumeView randomView(const Volume& volume, std::int64_t edge, std::uint64_t seed)
{
    Random random(seed);
    VolumeView view;
    const Vector axis = {random.real(-1, 1), random.real(-1, 1), random.real(0.01, 1)};
    const double scale = random.real(kLeastScale, kMostScale);
    view.step = turn(axis, random.real(-kMostTurn, kMostTurn));
    for (std::size_t i = 0; i < 3; ++i) {
        const double by = random.coin() ? -scale : scale;
        for (double& part : view.step[i])
            part *= by;
        // The cube stays inside the volume if it fits.
        const double room = std::max(static_cast<double>(volume.size[i] - edge) / 2, 0.0);
        view.centre[i] = static_cast<double>(volume.size[i] - 1) / 2 + random.real(-room, room);
    }
    view.gain = static_cast<float>(1 + random.real(-kMostGain, kMostGain));
    view.shift = static_cast<float>(random.real(-kMostShift, kMostShift));
    view.noise = static_cast<float>(random.real(0, kMostNoise));
    view.noiseSeed = random.bits();
    return view;
}

VolumeView randomPlace(const Volume& volume, std::int64_t edge, std::uint64_t seed)
{
    VolumeView view = centreView(volume);
    view.centre = randomView(volume, edge, seed).centre;
    const double half = static_cast<double>(edge - 1) / 2;
    for (double& centre : view.centre)
        centre = std::round(centre - half) + half;
    return view;
}

void cutValues(const Volume& volume, const VolumeView& view, std::int64_t edge, std::span<float> out)
{
    const auto cube = static_cast<std::size_t>(edge * edge * edge);
    for (std::int64_t channel = 0; channel < volume.channels; ++channel) {
        const float* from = volume.values.data() + channel * volume.voxels();
        float* to = out.data() + static_cast<std::size_t>(channel) * cube;
        forEachVoxel(view, edge, [&](const Vector& place, std::size_t index) {
            to[index] = interpolated(from, volume.size, place) * view.gain + view.shift;
        });
    }
    if (view.noise == 0)
        return;
    // The sum of three uniform numbers is close enough to a normal distribution; its standard deviation is one half.
    Random random(view.noiseSeed);
    for (float& value : out)
        value += view.noise * static_cast<float>(2 * (random.real() + random.real() + random.real() - 1.5));
}

void cutLabels(const Volume& labels, const VolumeView& view, std::int64_t edge, std::span<std::int64_t> out)
{
    forEachVoxel(view, edge, [&](const Vector& place, std::size_t index) {
        std::int64_t at = 0;
        for (std::size_t axis = 0; axis < 3; ++axis)
            at = at * labels.size[axis] +
                 std::llround(std::clamp(place[axis], 0.0, static_cast<double>(labels.size[axis] - 1)));
        out[index] = std::llround(labels.values[static_cast<std::size_t>(at)]);
    });
}

} // namespace trainer::data
