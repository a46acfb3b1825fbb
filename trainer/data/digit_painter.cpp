#include "trainer/data/digit_painter.h"

#include "trainer/data/random.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace trainer::data {

namespace {

struct Segment {
    double x1, y1, x2, y2; ///< in a box from 0 to 1 horizontally and 0 to 2 vertically
};
// Top, upper right, lower right, bottom, lower left, upper left, middle.
constexpr std::array<Segment, 7> kSegments = {
    {{0, 0, 1, 0}, {1, 0, 1, 1}, {1, 1, 1, 2}, {0, 2, 1, 2}, {0, 1, 0, 2}, {0, 0, 0, 1}, {0, 1, 1, 1}}};
// Bit i: segment i is lit.
constexpr std::array<unsigned, 10> kLit = {0x3f, 0x06, 0x5b, 0x4f, 0x66, 0x6d, 0x7d, 0x07, 0x7f, 0x6f};

double distance(double x, double y, const Segment& line)
{
    const double dx = line.x2 - line.x1, dy = line.y2 - line.y1;
    const double along = std::clamp(((x - line.x1) * dx + (y - line.y1) * dy) / (dx * dx + dy * dy), 0.0, 1.0);
    return std::hypot(x - line.x1 - along * dx, y - line.y1 - along * dy);
}

} // namespace

void paintDigit(int digit, std::uint64_t seed, std::span<std::uint8_t> out)
{
    Random random(seed);
    const double scale = random.real(7, 9), slant = random.real(-0.25, 0.25), thickness = random.real(0.11, 0.19);
    const double left = kDigitEdge / 2.0 - scale / 2 + random.real(-2, 2),
                 top = kDigitEdge / 2.0 - scale + random.real(-2, 2);
    const double brightness = random.real(170, 255), noise = random.real(0, 25);
    for (int row = 0; row < kDigitEdge; ++row)
        for (int column = 0; column < kDigitEdge; ++column) {
            const double y = (row + 0.5 - top) / scale, x = (column + 0.5 - left) / scale - slant * (1 - y);
            double nearest = 10;
            for (std::size_t i = 0; i < kSegments.size(); ++i)
                if ((kLit[static_cast<std::size_t>(digit)] >> i & 1U) != 0)
                    nearest = std::min(nearest, distance(x, y, kSegments[i]));
            // The edge is antialiased over one pixel.
            const double share = std::clamp((thickness - nearest) * scale + 0.5, 0.0, 1.0);
            const double value = share * brightness + random.real() * noise;
            out[static_cast<std::size_t>(row * kDigitEdge + column)] =
                static_cast<std::uint8_t>(std::min(value, 255.0));
        }
}

} // namespace trainer::data
