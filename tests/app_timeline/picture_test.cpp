#include "app/document/trace_summary.h"
#include "app/timeline/timeline_actions.h"
#include "app/timeline/timeline_painter.h"
#include "app/views/timeline/timeline_view.h"
#include "tests/app_timeline/timeline_canvas_fixture.h"
#include "tests/support/trace_text.h"

#include <QAction>
#include <QLabel>
#include <QLineEdit>
#include <QNativeGestureEvent>
#include <QPointingDevice>
#include <QSvgRenderer>
#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>
#include <set>

namespace app {
namespace {

using namespace profiler;

/// Share of pixels of two images of the same size that differ by more than antialiasing.
double differing(const QImage& a, const QImage& b)
{
    EXPECT_EQ(a.size(), b.size());
    int far = 0;
    for (int y = 0; y < a.height(); ++y)
        for (int x = 0; x < a.width(); ++x) {
            const QColor p = a.pixelColor(x, y), q = b.pixelColor(x, y);
            far += std::abs(p.red() - q.red()) + std::abs(p.green() - q.green()) + std::abs(p.blue() - q.blue()) > 120;
        }
    return static_cast<double>(far) / (static_cast<double>(a.width()) * a.height());
}

TEST_F(TimelineCanvasTest, AnImageShowsTheVisiblePart)
{
    canvas.bringIntoView(step(10).range());
    canvas.clearFocus();
    canvas.findChild<QLineEdit*>("trackFilter")->hide(); // a control, not a part of the image
    EXPECT_EQ(canvas.picture(1), canvas.viewport()->grab().toImage().convertToFormat(QImage::Format_RGB32));
}

TEST_F(TimelineCanvasTest, TheSvgShowsTheSameWithNamesAsText)
{
    canvas.bringIntoView(step(10).range());
    canvas.clearFocus();
    const QByteArray svg = canvas.svg();
    EXPECT_TRUE(svg.contains(">forward</text>")) << "texts stay unchanged";
    EXPECT_FALSE(svg.contains("<image")) << "no pixels";
    QSvgRenderer renderer(svg);
    ASSERT_TRUE(renderer.isValid());
    QImage drawn(canvas.viewport()->size(), QImage::Format_RGB32);
    drawn.fill(Qt::white);
    QPainter painter(&drawn);
    renderer.render(&painter);
    painter.end();
    EXPECT_LT(differing(drawn, canvas.picture(1)), 0.06);
}

TEST_F(TimelineCanvasTest, HatchesAreAsCoarseAtEveryScale)
{
    const Slice wait = named("data wait", step(10).range());
    canvas.bringIntoView(wait.range());
    canvas.clearFocus();
    const QRectF rect = scene().rectOf(wait);
    const auto stripes = [&](double ratio) {
        const QImage image = canvas.picture(ratio);
        const int y = static_cast<int>((rect.top() + 1) * ratio); // above the name
        int changes = 0;
        for (int x = static_cast<int>((rect.left() + 3) * ratio); x < static_cast<int>((rect.right() - 3) * ratio); ++x)
            changes += image.pixel(x, y) != image.pixel(x + 1, y);
        return changes;
    };
    EXPECT_GT(stripes(1), rect.width() / 8);
    EXPECT_NEAR(stripes(2), stripes(1), 3);
}

TEST_F(TimelineCanvasTest, IsCrispAtEveryScale)
{
    canvas.bringIntoView(step(10).range());
    canvas.clearFocus();
    const Slice forward = named(phase::kForward, step(10).range());
    for (const double ratio : {1.0, 1.5, 2.0, 3.0}) {
        const QImage image = canvas.picture(ratio);
        ASSERT_EQ(image.width(), std::lround(canvas.viewport()->width() * ratio));
        const QRectF rect = scene().rectOf(forward);
        const QColor fill = classStyle(SliceClass::Forward, false).fill;
        // A pixel column through the slice near its right end: background, fill, background.
        const int x = static_cast<int>((rect.right() - 3) * ratio);
        std::set<QRgb> colors;
        int rows = 0;
        for (int y = static_cast<int>(std::lround(rect.top() * ratio)); y < std::lround(rect.bottom() * ratio); ++y) {
            colors.insert(image.pixel(x, y));
            rows += image.pixelColor(x, y) == fill;
        }
        EXPECT_EQ(colors.size(), 1U) << ratio << ": no partly covered pixel rows";
        EXPECT_NEAR(rows, rect.height() * ratio, 1) << ratio;
        // Between two lanes there is a gap of at least one device pixel.
        const int below = static_cast<int>(std::lround(rect.bottom() * ratio));
        EXPECT_NE(image.pixelColor(x, below), fill) << ratio;
        // The left edge of the lanes joins the header without a seam.
        const int edge = static_cast<int>(std::lround(scene().headerWidth * ratio));
        for (int y = static_cast<int>(60 * ratio); y < image.height() - 1; y += 7)
            EXPECT_NE(image.pixelColor(edge, y), QColor(Qt::black)) << ratio << " " << y;
    }
}

TEST_F(TimelineCanvasTest, ThePinchOfATouchPadZoomsAtThePointer)
{
    canvas.bringIntoView({step(10).begin, step(14).end()});
    const double before = scene().axis.nsPerPixel();
    const QPointF at(700, 300);
    const TraceTime time = scene().timeAt(at.x());
    QNativeGestureEvent pinch(Qt::ZoomNativeGesture, QPointingDevice::primaryPointingDevice(), 2, at, at,
                              canvas.viewport()->mapToGlobal(at), 0.25, {});
    QApplication::sendEvent(canvas.viewport(), &pinch);
    EXPECT_NEAR(scene().axis.nsPerPixel(), before / std::exp(0.25), before * 1e-6);
    EXPECT_NEAR(scene().xOf(time), at.x(), 0.01);
}

TEST_F(TimelineCanvasTest, IdleIntervalsAreHatchedWithTheirCause)
{
    const auto kernels = trace->ofKind(ActivityKind::Kernel);
    std::size_t before = 40;
    while (kernels[before + 1].begin - kernels[before].end() < Nanoseconds{3'000'000})
        ++before;
    const TimeRange gap{kernels[before].end(), kernels[before + 1].begin};
    canvas.bringIntoView(gap);
    const QRectF left = scene().rectOf(kernels[before]);
    const QRect stretch(static_cast<int>(scene().xOf(gap.begin)) + 4, static_cast<int>(left.top()) + 1,
                        static_cast<int>(scene().xOf(gap.end) - scene().xOf(gap.begin)) - 8, 16);
    const auto colors = [&] {
        const QImage image = canvas.viewport()->grab().toImage();
        std::set<QRgb> all;
        for (int y = stretch.top(); y < stretch.bottom(); ++y)
            for (int x = stretch.left(); x < stretch.right(); ++x)
                all.insert(image.pixel(x, y));
        return all;
    };
    const std::size_t plain = colors().size();
    auto gaps = std::make_shared<DeviceGaps>();
    gaps->byDevice[{0}] = {{gap, "data_loader"}};
    canvas.setGaps(gaps);
    EXPECT_GT(colors().size(), plain + 5) << "a hatch with a label";
    EXPECT_TRUE(colors().contains(classStyle(SliceClass::Idle, false).second.rgb()));
    canvas.setGaps(nullptr);
    EXPECT_EQ(colors().size(), plain);
}

TEST(DeviceGaps, NoLabelBackgroundWithoutText)
{
    const auto trace = test_support::traceFromText("stream 0 7\nkernel a 0 100\nkernel a 500 100\nmain\nop x 0 6000");
    TimelineCanvas canvas;
    canvas.resize(1000, 300);
    canvas.setTrace(trace);
    canvas.show();
    auto gaps = std::make_shared<DeviceGaps>();
    gaps->byDevice[{0}] = {{{traceTime(100'000), traceTime(500'000)}, "data_loader"}};
    canvas.setGaps(gaps);
    const Slice kernel = trace->ofKind(ActivityKind::Kernel).at(0);
    // Shorter and shorter: with a label, then only hatched; never a blank as wide as a letter.
    for (const int width : {200, 80, 50, 42, 38, 34, 30, 26, 22, 18}) {
        canvas.showRange({traceTime(0), traceTime(400'000LL * canvas.scene().lanesRect().width() / width)});
        const QImage image = canvas.viewport()->grab().toImage();
        const int y = static_cast<int>(canvas.scene().rectOf(kernel).center().y()) - 5;
        const int left = static_cast<int>(canvas.scene().xOf(traceTime(100'000))) + 2,
                  right = static_cast<int>(canvas.scene().xOf(traceTime(500'000))) - 2;
        int blank = 0, ink = 0;
        for (int x = left; x < right; ++x) {
            blank += image.pixel(x, y) == canvas.scene().theme.background.rgb();
            for (int down = 0; down < 10; ++down)
                ink += image.pixelColor(x, y + down).lightness() < 100;
        }
        EXPECT_TRUE(blank < 8 || ink > 8) << width;
        if (width == 200) {
            EXPECT_GT(ink, 8) << "the label is shown where it fits";
        }
    }
}

TEST(DeviceGaps, AreKnownOfEachDeviceAndOutsideOfStepsToo)
{
    // Waits of 40 and 60 µs on the first device and of 100 µs on the second; the last one is after the only step.
    const auto trace = test_support::traceFromText(R"(
        main
          step 0 0 200
          phase "data wait" 20 40
          phase "data wait" 300 100
        stream 0 7
          kernel a 0 20
          kernel a 60 240
          kernel a 340 10
        stream 1 7
          kernel b 200 100
          kernel b 400 10
    )");
    const auto gaps = summarise(trace, analysis::findSteps(*trace)).gaps;
    ASSERT_TRUE(gaps);
    const auto stretches = [&](std::uint32_t device) {
        std::vector<std::string> all;
        for (const DeviceGaps::Gap& gap : gaps->in({device}, trace->range()))
            all.push_back(std::string(gap.cause) + ' ' + std::to_string(gap.range.begin.time_since_epoch().count()) +
                          '-' + std::to_string(gap.range.end.time_since_epoch().count()));
        return all;
    };
    EXPECT_THAT(stretches(0), testing::ElementsAre("data_loader 20000-60000", "data_loader 300000-340000"));
    EXPECT_THAT(stretches(1), testing::ElementsAre("data_loader 300000-400000"));
}

TEST(DeviceGaps, LongOnesShowAmongVeryManyShortOnes)
{
    // 20,000 gaps of 1 µs after kernels of 1 µs, with one of 10 ms in the middle.
    constexpr int kPairs = 10'000;
    TraceBuilder builder;
    Track stream;
    stream.kind = TrackKind::Stream;
    stream.device = {0};
    const auto track = builder.addTrack(stream);
    const auto name = builder.intern("gemm");
    std::vector<DeviceGaps::Gap> all;
    std::int64_t at = 0;
    for (int i = 0; i < 2 * kPairs; ++i) {
        Slice slice;
        slice.begin = traceTime(at);
        slice.duration = Nanoseconds{1000};
        slice.kind = ActivityKind::Kernel;
        slice.name = name;
        builder.add(track, slice);
        const std::int64_t idle = i == kPairs ? 10'000'000 : 1000;
        all.push_back({{traceTime(at + 1000), traceTime(at + 1000 + idle)}, "data_loader"});
        at += 1000 + idle;
    }
    TimelineCanvas canvas;
    canvas.resize(1000, 300);
    canvas.setTrace(builder.finish());
    canvas.show();
    canvas.navigation().fitAll();
    auto gaps = std::make_shared<DeviceGaps>();
    gaps->byDevice[{0}] = all;
    const DeviceGaps::Gap wait = all[kPairs];
    const Slice kernel = canvas.scene().trace->ofKind(ActivityKind::Kernel).at(0);
    const auto hatched = [&] {
        const QImage image = canvas.viewport()->grab().toImage();
        const int left = static_cast<int>(canvas.scene().xOf(wait.range.begin)) + 3,
                  right = static_cast<int>(canvas.scene().xOf(wait.range.end)) - 3,
                  top = static_cast<int>(canvas.scene().rectOf(kernel).top()) + 2;
        std::set<QRgb> colors;
        for (int x = left; x < right; ++x)
            for (int y = top; y < top + 12; ++y)
                colors.insert(image.pixel(x, y));
        return colors.contains(classStyle(SliceClass::Idle, false).second.rgb());
    };
    EXPECT_FALSE(hatched());
    canvas.setGaps(gaps);
    EXPECT_TRUE(hatched());
    std::vector<std::size_t> found;
    const LongGaps known(gaps->byDevice.at({0}));
    const auto visit = [&](const DeviceGaps::Gap& gap) {
        found.push_back(static_cast<std::size_t>(&gap - gaps->byDevice.at({0}).data()));
    };
    known.forEach(gaps->in({0}, {wait.range.begin, wait.range.end}), Nanoseconds{1'000'000}, visit);
    known.forEach(gaps->in({0}, {traceTime(0), wait.range.begin}), Nanoseconds{1'000'000}, visit);
    known.forEach(gaps->in({0}, {traceTime(0), traceTime(4500)}), Nanoseconds{1000}, visit);
    EXPECT_THAT(found, testing::ElementsAre(kPairs, 0, 1));
}

TEST(DeviceGaps, AreFoundByWindow)
{
    DeviceGaps gaps;
    const auto at = [](std::int64_t ns) { return traceTime(ns); };
    gaps.byDevice[{1}] = {{{at(10), at(20)}, "launch"}, {{at(30), at(40)}, "sync"}, {{at(50), at(60)}, "copy"}};
    EXPECT_EQ(gaps.in({1}, {at(20), at(50)}).size(), 1U) << "touching is not overlapping";
    EXPECT_EQ(gaps.in({1}, {at(19), at(51)}).size(), 3U);
    EXPECT_TRUE(gaps.in({0}, {at(0), at(99)}).empty());
    EXPECT_EQ(gapWord("data_loader").toStdString(), "waits for data");
    EXPECT_EQ(gapWord("something new").toStdString(), "idle");
}

TEST_F(TimelineCanvasTest, TheShortcutsPageListsEveryAction)
{
    KeySheet sheet(canvas, nullptr);
    QStringList texts;
    for (const QLabel* label : sheet.findChildren<QLabel*>())
        texts.append(label->text());
    for (const QAction* action : canvas.actions()) {
        EXPECT_TRUE(texts.contains(action->text().remove(QChar(u'…')))) << action->text().toStdString();
        const QString key = action->shortcut().toString(QKeySequence::NativeText);
        EXPECT_TRUE(std::any_of(texts.begin(), texts.end(), [&](const QString& t) { return t.startsWith(key); }))
            << key.toStdString();
    }
}

} // namespace
} // namespace app
