#include "trainer/data/image_painter.h"

#include "trainer/data/random.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <string_view>

namespace trainer::data {

namespace {

constexpr std::array<std::string_view, 8> kShapes{"disc", "square", "triangle", "cross",
                                                  "ring", "star",   "moon",     "hourglass"};
constexpr std::array<std::string_view, 6> kPatterns{"stripes", "lines", "zigzag", "dashes", "blocks", "ladder"};
constexpr std::array<std::string_view, 3> kDirections{"horizontal", "vertical", "diagonal"};
constexpr std::array<std::string_view, 7> kGrounds{"plain", "fade", "glow", "bands", "bars", "tiles", "rings"};

struct Look {
    int shape = 0, pattern = 0, direction = 0, ground = 0;
};

/// A one-to-one mapping. Each feature also follows the shape, so that the first classes differ in all features.
Look lookOf(std::int64_t paintedClass)
{
    const int shape = static_cast<int>(paintedClass % 8);
    const int rest = static_cast<int>(paintedClass / 8);
    return {.shape = shape,
            .pattern = (rest + shape) % 6,
            .direction = (rest / 6 + shape) % 3,
            .ground = (rest / 18 + shape) % 7};
}

float fraction(float x)
{
    return x - std::floor(x);
}

/// @param x, y  in the shape's coordinates, about −1 … 1, y down
bool isInside(int shape, float x, float y)
{
    const float ax = std::abs(x), ay = std::abs(y), r2 = x * x + y * y;
    switch (shape) {
    case 0:
        return r2 < 0.81F;
    case 1:
        return std::max(ax, ay) < 0.75F;
    case 2:
        return y > -0.85F && y < 0.7F && ax < (y + 0.85F) * 0.6F;
    case 3:
        return (ax < 0.28F && ay < 0.9F) || (ay < 0.28F && ax < 0.9F);
    case 4:
        return r2 > 0.25F && r2 < 0.85F;
    case 5:
        return std::sqrt(ax) + std::sqrt(ay) < 0.98F;
    case 6:
        return r2 < 0.81F && (x - 0.5F) * (x - 0.5F) + y * y > 0.42F;
    default:
        return ay < 0.85F && ax < 0.15F + ay * 0.8F;
    }
}

/// @param along, across  in periods of the pattern
bool isMarked(int pattern, float along, float across)
{
    switch (pattern) {
    case 0:
        return fraction(across) < 0.5F;
    case 1:
        return fraction(across) < 0.22F;
    case 2:
        return fraction(across + std::abs(fraction(along) - 0.5F)) < 0.5F;
    case 3:
        return fraction(across) < 0.5F && fraction(along * 0.5F) < 0.6F;
    case 4:
        return (fraction(across) < 0.5F) != (fraction(along / 3) < 0.5F);
    default:
        return fraction(across) < 0.22F || fraction(along / 3) < 0.12F;
    }
}

/// Amount of the second background colour, 0 … 1.
/// @param x, y  0 … 1 over the image; `phase` shifts repeating patterns
float groundAt(int ground, float x, float y, float phase)
{
    const float dx = x - 0.5F, dy = y - 0.5F;
    switch (ground) {
    case 0:
        return 0;
    case 1:
        return y;
    case 2:
        return std::min(1.0F, 2.8F * (dx * dx + dy * dy));
    case 3:
        return fraction(y * 4 + phase) < 0.5F ? 0.0F : 1.0F;
    case 4:
        return fraction(x * 4 + phase) < 0.5F ? 0.0F : 1.0F;
    case 5:
        return (fraction(x * 3 + phase) < 0.5F) != (fraction(y * 3 + phase) < 0.5F) ? 0.0F : 1.0F;
    default:
        return fraction(6 * std::sqrt(dx * dx + dy * dy) + phase) < 0.5F ? 0.0F : 1.0F;
    }
}

using Colour = std::array<float, 3>;

float luminance(const Colour& c)
{
    return 0.299F * c[0] + 0.587F * c[1] + 0.114F * c[2];
}

Colour randomColour(Random& random)
{
    Colour colour{};
    for (float& channel : colour)
        channel = static_cast<float>(random.real(30, 225));
    return colour;
}

/// A colour that can be distinguished from `other` without its hue.
Colour colourApartFrom(const Colour& other, float distance, Random& random)
{
    for (;;) {
        const Colour colour = randomColour(random);
        if (std::abs(luminance(colour) - luminance(other)) >= distance)
            return colour;
    }
}

/// Noise as in photographs: stronger at coarser scales (value noise in octaves), with grain on top.
class Noise {
public:
    Noise(int edge, Random& random)
        : m_edge(edge), m_values(static_cast<std::size_t>(edge) * static_cast<std::size_t>(edge))
    {
        addOctave(48, 22, random);
        addOctave(12, 16, random);
        addOctave(3, 13, random);
        addGrain(4.5F, random);
    }
    [[nodiscard]] const float* row(int y) const { return m_values.data() + std::ptrdiff_t{y} * m_edge; }

private:
    void addOctave(int cell, float strength, Random& random)
    {
        const int nodes = m_edge / cell + 2;
        std::vector<float> lattice(static_cast<std::size_t>(nodes) * static_cast<std::size_t>(nodes));
        for (float& node : lattice)
            node = static_cast<float>(random.real(-strength, strength));
        std::vector<float> mixed(static_cast<std::size_t>(nodes));
        const float step = 1.0F / static_cast<float>(cell);
        for (int y = 0; y < m_edge; ++y) {
            const float* upper = lattice.data() + std::ptrdiff_t{y / cell} * nodes;
            const float share = static_cast<float>(y % cell) * step;
            for (int i = 0; i < nodes; ++i)
                mixed[static_cast<std::size_t>(i)] = upper[i] + share * (upper[i + nodes] - upper[i]);
            float* to = m_values.data() + std::ptrdiff_t{y} * m_edge;
            for (int x = 0, node = 0; x < m_edge; ++node) {
                const float left = mixed[static_cast<std::size_t>(node)];
                const float slope = (mixed[static_cast<std::size_t>(node) + 1] - left) * step;
                for (int i = 0; i < cell && x < m_edge; ++i, ++x)
                    to[x] += left + static_cast<float>(i) * slope;
            }
        }
    }
    void addGrain(float strength, Random& random)
    {
        const float scale = strength / 128;
        for (std::size_t i = 0; i < m_values.size();) {
            std::uint64_t bits = random.bits();
            for (int k = 0; k < 8 && i < m_values.size(); ++k, ++i, bits >>= 8)
                m_values[i] += (static_cast<float>(bits & 0xff) - 127.5F) * scale;
        }
    }

    int m_edge;
    std::vector<float> m_values;
};

/// The random properties of an image.
struct Scene {
    Colour mark, fill, nearGround, farGround;
    float x, y, radius;  ///< of the shape, px
    float cosine, sine;  ///< of its rotation
    float period;        ///< of the pattern, px
    float along, across; ///< start of the pattern, periods
    float phase;         ///< of the background
    float mirrored;      ///< ±1: the direction of a diagonal

    Scene(int edge, Random& random)
    {
        nearGround = randomColour(random);
        farGround = colourApartFrom(nearGround, 25, random);
        fill = colourApartFrom(nearGround, 55, random);
        mark = colourApartFrom(fill, 75, random);
        radius = static_cast<float>(edge * random.real(0.26, 0.42));
        x = static_cast<float>(random.real(radius * 0.9, edge - radius * 0.9));
        y = static_cast<float>(random.real(radius * 0.9, edge - radius * 0.9));
        const auto turn = static_cast<float>(random.real(-0.2, 0.2));
        cosine = std::cos(turn);
        sine = std::sin(turn);
        period = radius * static_cast<float>(random.real(0.3, 0.5));
        along = static_cast<float>(random.real());
        across = static_cast<float>(random.real());
        phase = static_cast<float>(random.real());
        mirrored = random.coin() ? 1.0F : -1.0F;
    }
};

bool isMarked(const Look& look, const Scene& scene, float dx, float dy)
{
    constexpr float kDiagonal = 0.70710678F;
    float along = dx, across = dy;
    if (look.direction == 1)
        std::swap(along, across);
    if (look.direction == 2) {
        along = kDiagonal * (dx - scene.mirrored * dy);
        across = kDiagonal * (scene.mirrored * dx + dy);
    }
    return isMarked(look.pattern, along / scene.period + scene.along, across / scene.period + scene.across);
}

Colour colourAt(const Look& look, const Scene& scene, float x, float y, float edge)
{
    const float dx = x - scene.x, dy = y - scene.y;
    const float u = (scene.cosine * dx + scene.sine * dy) / scene.radius;
    const float v = (scene.cosine * dy - scene.sine * dx) / scene.radius;
    if (std::max(std::abs(u), std::abs(v)) < 1 && isInside(look.shape, u, v))
        return isMarked(look, scene, dx, dy) ? scene.mark : scene.fill;
    const float share = groundAt(look.ground, x / edge, y / edge, scene.phase);
    Colour mixed{};
    for (std::size_t c = 0; c < 3; ++c)
        mixed[c] = scene.nearGround[c] + share * (scene.farGround[c] - scene.nearGround[c]);
    return mixed;
}

} // namespace

std::string paintedClassName(std::int64_t paintedClass)
{
    const Look look = lookOf(paintedClass);
    const auto name = [](auto& names, int i) { return names[static_cast<std::size_t>(i)]; };
    return fmt::format("{:04}_{}_{}_{}_{}", paintedClass, name(kShapes, look.shape), name(kPatterns, look.pattern),
                       name(kDirections, look.direction), name(kGrounds, look.ground));
}

void paintImage(std::int64_t paintedClass, std::uint64_t seed, int edge, RgbImage& out)
{
    const Look look = lookOf(paintedClass);
    Random random(seed);
    const Scene scene(edge, random);
    const Noise light(edge, random);
    out.resize({edge, edge});
    for (int y = 0; y < edge; ++y) {
        std::uint8_t* to = out.row(y);
        const float* noise = light.row(y);
        for (int x = 0; x < edge; ++x, to += 3) {
            const Colour colour =
                colourAt(look, scene, static_cast<float>(x), static_cast<float>(y), static_cast<float>(edge));
            for (std::size_t c = 0; c < 3; ++c)
                to[c] = static_cast<std::uint8_t>(std::clamp(colour[c] + noise[x], 0.0F, 255.0F));
        }
    }
}

} // namespace trainer::data
