#include "app/timeline/timeline_actions.h"
#include "app/timeline/timeline_canvas.h"
#include "profiler/model/trace_builder.h"

#include <QAction>
#include <QPalette>
#include <cmath>
#include <gtest/gtest.h>
#include <string>
#include <vector>

// Pixels shared by several slices are drawn as their mix by share of time, with idle time as background.

namespace app {
namespace {

using namespace profiler;

constexpr std::int64_t kPixel = 1000; ///< ns

/// The parts of each pixel, from its start on.
struct Part {
    std::int64_t ns;
    ActivityKind kind; ///< Other: idle time without slices
    const char* name = "";
};
constexpr const char* kMatrix = "ampere_sgemm_128x64";
constexpr const char* kNccl = "ncclDevKernel_AllReduce";

/// A canvas at one microsecond per pixel, where each pixel from the first on has the same parts.
struct MixCanvas {
    TimelineCanvas canvas;
    std::shared_ptr<const Trace> trace;
    int left = 0, y = 0;

    /// @param pixels  number of pixels with parts; the ones to their right are empty
    MixCanvas(const std::vector<Part>& parts, int pixels)
    {
        TraceBuilder builder;
        Track stream;
        stream.kind = TrackKind::Stream;
        const TrackId track = builder.addTrack(stream);
        const auto add = [&](std::int64_t at, const Part& part) {
            Slice slice;
            slice.begin = traceTime(at);
            slice.duration = Nanoseconds{part.ns};
            slice.kind = part.kind;
            slice.name = builder.intern(part.name);
            builder.add(track, slice);
        };
        for (int pixel = 0; pixel < pixels; ++pixel) {
            std::int64_t at = pixel * kPixel;
            for (const Part& part : parts) {
                if (part.kind != ActivityKind::Other)
                    add(at, part);
                at += part.ns;
            }
        }
        // Beyond the tested part, so that the axis can show a part of the trace.
        add(100'000 * kPixel, {10, ActivityKind::Kernel, kMatrix});
        trace = builder.finish();
        canvas.resize(1400, 300);
        canvas.setTrace(trace);
        canvas.show();
        const QRect lanes = canvas.scene().lanesRect();
        canvas.showRange({traceTime(0), traceTime(lanes.width() * kPixel)});
        left = lanes.left();
        y = static_cast<int>(canvas.scene().rectOf(trace->sorted(track).front()).top()) + 5;
        EXPECT_EQ(canvas.scene().axis.visible().begin, traceTime(0));
    }
    [[nodiscard]] int width() const { return canvas.scene().lanesRect().width(); }

    QImage image()
    {
        QImage image;
        do
            image = canvas.viewport()->grab().toImage().convertToFormat(QImage::Format_RGB32);
        while (!canvas.isExact());
        return image;
    }
    QColor at(const QImage& image, int pixel) const { return image.pixelColor(left + pixel, y); }
};

QColor fillOf(ActivityKind kind, const char* name, bool dark = false)
{
    return classStyle(classify(kind, name), dark).fill;
}

/// Distance of two colours, out of 255.
int apart(const QColor& a, const QColor& b)
{
    return std::max({std::abs(a.red() - b.red()), std::abs(a.green() - b.green()), std::abs(a.blue() - b.blue())});
}

/// Compares the pixels of a view full of these parts, and of one with a few of them, with the colour expected from the
/// shares of time.
void expectMix(const std::vector<Part>& parts)
{
    for (const int pixels : {100, 1100}) { // few slices are drawn individually, many from the index
        MixCanvas shown(parts, pixels);
        const QImage image = shown.image();
        const QColor ground = shown.at(image, pixels + 60);
        double sum[3] = {};
        std::int64_t idle = kPixel;
        const auto add = [&](const QColor& color, std::int64_t ns) {
            const double share = static_cast<double>(ns) / kPixel;
            sum[0] += color.red() * share;
            sum[1] += color.green() * share;
            sum[2] += color.blue() * share;
        };
        for (const Part& part : parts)
            if (part.kind != ActivityKind::Other) {
                add(fillOf(part.kind, part.name), part.ns);
                idle -= part.ns;
            }
        add(ground, idle);
        const QColor expected(static_cast<int>(std::lround(sum[0])), static_cast<int>(std::lround(sum[1])),
                              static_cast<int>(std::lround(sum[2])));
        for (const int pixel : {5, 33, 71, pixels - 7})
            EXPECT_LE(apart(shown.at(image, pixel), expected), 3)
                << pixels << " pixels, at " << pixel << ": " << shown.at(image, pixel).name().toStdString() << " for "
                << expected.name().toStdString();
    }
}

TEST(PixelMix, IsOfWorkAndIdleTime)
{
    expectMix({{300, ActivityKind::Kernel, kMatrix}, {200, ActivityKind::Other}});
    expectMix({{400, ActivityKind::Other}, {300, ActivityKind::Kernel, kMatrix}});
    expectMix({{150, ActivityKind::Kernel, kMatrix}, {300, ActivityKind::Other}, {150, ActivityKind::Kernel, kMatrix}});
}

TEST(PixelMix, IsOfTwoKindsByHalves)
{
    expectMix({{500, ActivityKind::Kernel, kMatrix}, {500, ActivityKind::GpuMemcpy, "Memcpy HtoD"}});
}

TEST(PixelMix, IsOfClassesOfOneKind)
{
    expectMix({{500, ActivityKind::Kernel, kMatrix}, {500, ActivityKind::Kernel, kNccl}});
    expectMix({{200, ActivityKind::Kernel, kMatrix}, {300, ActivityKind::Other}, {400, ActivityKind::Kernel, kNccl}});
}

TEST(PixelMix, IsTheSameOnADarkBackground)
{
    QPalette dark;
    dark.setColor(QPalette::Base, QColor(0x1b, 0x1f, 0x26));
    dark.setColor(QPalette::Text, QColor(0xe6, 0xe9, 0xee));
    MixCanvas shown({{500, ActivityKind::Kernel, kMatrix}, {500, ActivityKind::Other}}, 1100);
    shown.canvas.setPalette(dark);
    const QImage image = shown.image();
    const QColor ground = shown.at(image, 1160);
    EXPECT_LE(apart(shown.at(image, 50), blend(ground, fillOf(ActivityKind::Kernel, kMatrix, true), 0.5)), 3);
}

TEST(PixelMix, NeverHidesARareSlice)
{
    for (const int pixels : {100, 1100}) {
        MixCanvas shown(
            {{1, ActivityKind::Kernel, kNccl}, {400, ActivityKind::Other}, {1, ActivityKind::Kernel, kNccl}}, pixels);
        const QImage image = shown.image();
        EXPECT_GT(apart(shown.at(image, 50), shown.at(image, pixels + 60)), 12) << pixels;
    }
}

TEST(PixelMix, LeavesWideSlicesTheirOwnColourAndPattern)
{
    // At one µs per pixel: a kernel of two pixels, one slightly longer than one, and a wait of three.
    for (const int pixels : {100, 1800}) {
        TraceBuilder builder;
        Track stream;
        stream.kind = TrackKind::Stream;
        const TrackId track = builder.addTrack(stream);
        const auto add = [&](std::int64_t at, std::int64_t ns, ActivityKind kind, const char* name) {
            Slice slice;
            slice.begin = traceTime(at);
            slice.duration = Nanoseconds{ns};
            slice.kind = kind;
            slice.name = builder.intern(name);
            builder.add(track, slice);
        };
        add(10'000, 2000, ActivityKind::Kernel, kMatrix);
        add(20'300, 1200, ActivityKind::Kernel, kNccl);
        add(30'000, 40'000, ActivityKind::Sync, "cudaStreamSynchronize");
        for (int i = 100; i < pixels; ++i) // enough for drawing from the index
            add(i * 500 + 50'000, 200, ActivityKind::Kernel, kMatrix);
        add(100'000'000, 10, ActivityKind::Kernel, kMatrix);
        const auto trace = builder.finish();
        TimelineCanvas canvas;
        canvas.resize(1400, 300);
        canvas.setTrace(trace);
        canvas.show();
        const QRect lanes = canvas.scene().lanesRect();
        canvas.showRange({traceTime(0), traceTime(lanes.width() * kPixel)});
        QImage image;
        do
            image = canvas.viewport()->grab().toImage().convertToFormat(QImage::Format_RGB32);
        while (!canvas.isExact());
        const int y = static_cast<int>(canvas.scene().rectOf(trace->sorted(track).front()).top()) + 5;
        const auto at = [&](int pixel) { return image.pixelColor(lanes.left() + pixel, y); };
        const QColor matrix = fillOf(ActivityKind::Kernel, kMatrix), nccl = fillOf(ActivityKind::Kernel, kNccl);
        EXPECT_EQ(at(10), matrix);
        EXPECT_EQ(at(11), matrix);
        EXPECT_EQ(at(20), nccl) << "70 % of the pixel, by a slice of more than a pixel";
        const ClassStyle& wait = classStyle(SliceClass::Sync, false);
        int fill = 0, hatch = 0, other = 0;
        for (int x = 33; x < 67; ++x)
            for (int dy = 0; dy < 8; ++dy) {
                const QColor color = image.pixelColor(lanes.left() + x, y - 2 + dy);
                (color == wait.fill ? fill : color == wait.second ? hatch : other) += 1;
            }
        EXPECT_GT(fill, 50);
        EXPECT_GT(hatch, 50) << "a wide wait keeps its pattern";
        EXPECT_EQ(other, 0);
    }
}

TEST(PixelMix, FollowsTheColourScheme)
{
    MixCanvas shown({{500, ActivityKind::Kernel, kMatrix}, {500, ActivityKind::Kernel, kNccl}}, 1100);
    const QColor byKind = shown.at(shown.image(), 50);
    timelineAction(shown.canvas, "colorByName")->trigger();
    const auto nameFill = [](const char* name) {
        return nameStyle(static_cast<int>(stableHash(name) % kNameColors), false).fill;
    };
    const QColor expected = blend(nameFill(kMatrix), nameFill(kNccl), 0.5);
    EXPECT_LE(apart(shown.at(shown.image(), 50), expected), 3);
    EXPECT_GT(apart(byKind, expected), 12) << "otherwise the test shows nothing";
    timelineAction(shown.canvas, "colorByKind")->trigger();
    EXPECT_EQ(shown.at(shown.image(), 50), byKind);
}

} // namespace
} // namespace app
