#include "tests/data/image_files.h"
#include "trainer/data/image.h"

#include <cmath>
#include <gmock/gmock.h>

namespace data_test {
namespace {

using namespace trainer::data;
using testing::Each;
using testing::FloatNear;

constexpr Normalisation kNone{{0, 0, 0}, {1.0F / 255, 1.0F / 255, 1.0F / 255}}; // pixel values as they are

std::vector<float> resampled(const RgbImage& image, const CropBox& box, int edge,
                             const Normalisation& normalisation = kNone)
{
    std::vector<float> out(static_cast<std::size_t>(3 * edge * edge));
    resample(image, box, edge, normalisation, out);
    return out;
}

TEST(Resample, AConstantImageIsNormalisedExactlyAtAnySize)
{
    const std::array<std::uint8_t, 3> colour{124, 17, 255};
    for (const ImageSize size : {ImageSize{8, 8}, ImageSize{37, 5}, ImageSize{300, 211}, ImageSize{1, 1}}) {
        const auto out =
            resampled(plainImage(size, colour),
                      {0, 0, static_cast<double>(size.width), static_cast<double>(size.height), false}, 16, kImageNet);
        for (std::size_t c = 0; c < 3; ++c) {
            const float expected = (static_cast<float>(colour[c]) / 255 - kImageNet.mean[c]) / kImageNet.deviation[c];
            EXPECT_THAT(std::vector(out.begin() + static_cast<std::ptrdiff_t>(c) * 256,
                                    out.begin() + static_cast<std::ptrdiff_t>(c + 1) * 256),
                        Each(FloatNear(expected, 5e-6F)));
        }
    }
}

TEST(Resample, FullSizeKeepsEveryPixelInChannelOrder)
{
    const auto out = resampled(rampImage({8, 8}), {0, 0, 8, 8, false}, 8);
    for (int y = 0; y < 8; ++y)
        for (int x = 0; x < 8; ++x) {
            EXPECT_NEAR(out[static_cast<std::size_t>(y * 8 + x)], x, 1e-4);
            EXPECT_NEAR(out[static_cast<std::size_t>(64 + y * 8 + x)], y, 1e-4);
        }
}

TEST(Resample, FlipMirrorsLeftToRight)
{
    const RgbImage image = rampImage({40, 30});
    const auto plain = resampled(image, {3, 2, 25, 20, false}, 12);
    const auto flipped = resampled(image, {3, 2, 25, 20, true}, 12);
    for (std::size_t row = 0; row < 36; ++row)
        for (std::size_t x = 0; x < 12; ++x)
            EXPECT_EQ(flipped[row * 12 + x], plain[row * 12 + 11 - x]);
}

TEST(Resample, ACropTakesItsPart)
{
    // A ramp stays a ramp: every output pixel is the value at its centre.
    const auto out = resampled(rampImage({100, 100}), {20, 40, 32, 16, false}, 8);
    for (int y = 0; y < 8; ++y)
        for (int x = 0; x < 8; ++x) {
            EXPECT_NEAR(out[static_cast<std::size_t>(y * 8 + x)], 20 + (x + 0.5) * 4 - 0.5, 1e-3);
            EXPECT_NEAR(out[static_cast<std::size_t>(64 + y * 8 + x)], 40 + (y + 0.5) * 2 - 0.5, 1e-3);
        }
}

TEST(Resample, ReducingDoesNotAlias)
{
    RgbImage image = plainImage({256, 256}, {0, 0, 0});
    for (int y = 0; y < 256; ++y)
        for (int x = 0; x < 256; x += 2)
            image.row(y)[3 * x] = 200; // stripes that point sampling would see or miss
    const auto out = resampled(image, {0, 0, 256, 256, false}, 16);
    for (std::size_t x = 1; x < 15; ++x)
        EXPECT_NEAR(out[5 * 16 + x], 100, 1);
}

TEST(Resample, EnlargingInterpolates)
{
    RgbImage image = plainImage({2, 1}, {0, 0, 0});
    image.row(0)[3] = 100;
    const auto out = resampled(image, {0, 0, 2, 1, false}, 4);
    EXPECT_NEAR(out[0], 0, 1e-4);
    EXPECT_NEAR(out[1], 25, 1e-4);
    EXPECT_NEAR(out[2], 75, 1e-4);
    EXPECT_NEAR(out[3], 100, 1e-4);
}

TEST(Crop, RandomCropsAreInsideTheImageAndWithinTheirBounds)
{
    for (const ImageSize size : {ImageSize{100, 80}, ImageSize{1, 1}, ImageSize{1000, 10}, ImageSize{3, 700}}) {
        int flips = 0;
        for (std::uint64_t seed = 1; seed <= 500; ++seed) {
            const CropBox box = randomCrop(size, seed);
            flips += box.flip ? 1 : 0;
            ASSERT_GE(box.x, 0);
            ASSERT_GE(box.y, 0);
            ASSERT_LE(box.x + box.width, size.width + 1e-9);
            ASSERT_LE(box.y + box.height, size.height + 1e-9);
            ASSERT_NEAR(std::abs(std::log(box.width / box.height)), 0, std::log(4.0 / 3) + 1e-9);
        }
        EXPECT_NEAR(flips, 250, 60);
    }
}

TEST(Crop, TheSeedAloneDecidesAndTheCentreIsFixed)
{
    const CropBox a = randomCrop({100, 80}, 5), b = randomCrop({100, 80}, 5), c = randomCrop({100, 80}, 6);
    EXPECT_EQ(a.x, b.x);
    EXPECT_NE(a.x, c.x);
    const CropBox centre = centreCrop({100, 80});
    EXPECT_EQ(centre.width, 70);
    EXPECT_EQ(centre.x, 15);
    EXPECT_EQ(centre.y, 5);
    EXPECT_FALSE(centre.flip);
}

TEST(Shift, MovesAndFillsWithBackground)
{
    const Bytes pixels{1, 2, 3, 4, 5, 6}; // 3 × 2
    std::vector<float> out(6, -1);
    const auto shifted = [&](int dx, int dy) {
        shiftAndNormalise(pixels, {3, 2}, dx, dy, 0, 1.0F / 255, 9, out);
        return out;
    };
    EXPECT_THAT(shifted(0, 0), testing::Pointwise(testing::FloatEq(), {1, 2, 3, 4, 5, 6}));
    EXPECT_THAT(shifted(1, 0), testing::Pointwise(testing::FloatEq(), {9, 1, 2, 9, 4, 5}));
    EXPECT_THAT(shifted(-1, 1), testing::Pointwise(testing::FloatEq(), {9, 9, 9, 2, 3, 9}));
    EXPECT_THAT(shifted(5, -7), testing::Pointwise(testing::FloatEq(), {9, 9, 9, 9, 9, 9}));
}

} // namespace
} // namespace data_test
