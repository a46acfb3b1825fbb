#include "app/timeline/timeline_overlay.h"
#include "tests/app_timeline/timeline_canvas_fixture.h"

#include <QSemaphore>
#include <QThreadPool>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

namespace app {
namespace {

using namespace profiler;

TEST_F(TimelineCanvasTest, DrawsASliceWhereItIs)
{
    canvas.bringIntoView(step(10).range());
    for (const auto& [name, which] : {std::pair{"forward", SliceClass::Forward},
                                      {"backward", SliceClass::Backward},
                                      {"optimizer", SliceClass::Optimizer}}) {
        const Slice slice = named(name, step(10).range());
        const QRect rect = scene().rectOf(slice).toRect();
        ASSERT_GT(rect.width(), 10) << name;
        const QImage image = canvas.viewport()->grab().toImage();
        const QColor fill = classStyle(which, scene().theme.dark).fill;
        // Near its four corners, outside the label, and not beyond.
        EXPECT_EQ(image.pixelColor(rect.left() + 2, rect.top() + 1), fill) << name;
        EXPECT_EQ(image.pixelColor(rect.right() - 2, rect.bottom() - 1), fill) << name;
        EXPECT_NE(image.pixelColor(rect.left() - 3, rect.top() + 1), fill) << name;
        EXPECT_NE(image.pixelColor(rect.right() + 3, rect.top() + 1), fill) << name;
        EXPECT_NE(image.pixelColor(rect.left() + 2, rect.bottom() + 1), fill) << name << ": lanes do not overlap";
    }
}

/// Keeps all threads of Qt's pool busy during its lifetime.
class BusyPool {
public:
    BusyPool()
    {
        QThreadPool* pool = QThreadPool::globalInstance();
        for (int i = 0; i < pool->maxThreadCount(); ++i)
            pool->start([this] {
                m_begun.release();
                m_end.acquire();
            });
        m_begun.acquire(pool->maxThreadCount());
    }
    ~BusyPool()
    {
        m_end.release(QThreadPool::globalInstance()->maxThreadCount());
        QThreadPool::globalInstance()->waitForDone();
    }

private:
    QSemaphore m_begun, m_end;
};

// Qt draws high shapes on other threads and waits for them, which must not happen in a frame.
TEST_F(TimelineCanvasTest, AFrameWaitsForNoOtherThread)
{
    canvas.bringIntoView({step(10).begin, step(11).end()});
    canvas.setSelectedRange(TimeRange{step(10).begin, step(11).begin});
    canvas.selection().toggleAllFlows();
    QTest::mouseMove(canvas.viewport(), middleOf(named("forward", step(10).range())));
    ASSERT_TRUE(scene().hovered);
    canvas.setSelectedSlice(named("aten::conv2d", step(10).range()).id);
    ASSERT_FALSE(scene().flows.empty()) << "it has arrows";
    QImage image(canvas.viewport()->size(), QImage::Format_RGB32);
    std::atomic<bool> drawn = false, late = false;
    auto busy = std::make_unique<BusyPool>();
    std::thread watch([&] {
        for (int i = 0; i < 300 && !drawn; ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        late = !drawn;
        if (late)
            busy.reset(); // lets the frame continue
    });
    canvas.viewport()->render(&image);
    drawn = true;
    watch.join();
    EXPECT_FALSE(late);
}

TEST(RasterStrips, DrawTheSameAsOnePiece)
{
    for (const double ratio : {1.0, 1.5, 2.0}) {
        QImage whole(static_cast<int>(200 * ratio), static_cast<int>(400 * ratio), QImage::Format_RGB32);
        whole.setDevicePixelRatio(ratio);
        whole.fill(Qt::white);
        QImage strips = whole;
        const QRectF area(20.5, 31, 60, 301);
        const QColor color(200, 0, 0, 90);
        const auto shape = [&](QPainter& painter) {
            painter.setRenderHint(QPainter::Antialiasing, true);
            painter.setBrush(color);
            painter.drawRoundedRect(area.translated(80, 0).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6);
        };
        QPainter one(&whole), other(&strips);
        one.fillRect(area, color);
        shape(one);
        fillInStrips(other, area, color);
        drawInStrips(other, area.translated(80, 0).adjusted(-1, 0, 1, 1), [&] { shape(other); });
        one.end();
        other.end();
        EXPECT_EQ(strips, whole) << ratio;
    }
}

TEST_F(TimelineCanvasTest, HatchesWaits)
{
    canvas.bringIntoView(step(10).range());
    const Slice wait = named(phase::kDataWait, step(10).range());
    const QRect rect = scene().rectOf(wait).toRect();
    const QImage image = canvas.viewport()->grab().toImage();
    int fills = 0, seconds = 0;
    const ClassStyle& style = classStyle(SliceClass::DataWait, scene().theme.dark);
    for (int x = rect.right() - 40; x < rect.right() - 2; ++x) {
        fills += image.pixelColor(x, rect.top() + 1) == style.fill;
        seconds += image.pixelColor(x, rect.top() + 1) == style.second;
    }
    EXPECT_GT(fills, 10);
    EXPECT_GT(seconds, 5);
    EXPECT_EQ(fills + seconds, 38);
}

TEST_F(TimelineCanvasTest, DrawsManySlicesAsDenseAsTheyAre)
{
    const auto dense = test::trainingTraceOf(100'000);
    canvas.setTrace(dense);
    const Slice first = dense->ofKind(ActivityKind::Step).at(5);
    canvas.bringIntoView({first.begin, dense->ofKind(ActivityKind::Step).at(60).end()});
    const auto ops = dense->ofKind(ActivityKind::CpuOp);
    const QImage image = exact();
    int busy = 0, idle = 0, wrong = 0;
    const int y = static_cast<int>(scene().rectOf(ops.front()).center().y());
    for (int x = 300; x < 1100; ++x) {
        std::vector<LodBucket> bucket(1);
        dense->summarize(ops.front().id.track, ops.front().depth, {scene().timeAt(x), scene().timeAt(x + 1)}, bucket);
        const bool drawn = std::abs(image.pixelColor(x, y).lightness() - scene().theme.background.lightness()) > 20;
        busy += bucket[0].count > 0;
        idle += bucket[0].count == 0;
        wrong += drawn != (bucket[0].count > 0);
    }
    EXPECT_GT(busy, 100);
    EXPECT_GT(idle, 100);
    EXPECT_LE(wrong, 60) << "edges and grid lines only";
}

TEST_F(TimelineCanvasTest, TheViewIsExactAfterZooming)
{
    const auto dense = test::trainingTraceOf(200'000);
    canvas.setTrace(dense);
    const auto steps = dense->ofKind(ActivityKind::Step);
    canvas.bringIntoView({steps[40].begin, steps[200].end()});
    canvas.clearFocus();
    canvas.viewport()->grab();
    for (const int angle : {120, 120, -120, -120, -120}) {
        wheel({700, 300}, {0, angle});
        EXPECT_TRUE(scene().zooming);
        canvas.viewport()->grab();
    }
    QEvent leave(QEvent::Leave); // without a pointer line
    QApplication::sendEvent(canvas.viewport(), &leave);
    ASSERT_TRUE(QTest::qWaitFor([&] { return !scene().zooming; }, 20'000));
    const QRect lanes = scene().lanesRect();
    EXPECT_EQ(exact().copy(lanes), canvas.picture(1).copy(lanes)) << "equal to a build without earlier frames";
    canvas.navigation().zoomIn();
    EXPECT_TRUE(scene().zooming);
    canvas.bringIntoView(steps[3].range());
    ASSERT_TRUE(QTest::qWaitFor([&] { return !scene().zooming; }, 20'000));
    EXPECT_EQ(exact().copy(lanes), canvas.picture(1).copy(lanes));
}

TEST_F(TimelineCanvasTest, ZoomingShowsTheContent)
{
    const auto dense = test::trainingTraceOf(200'000);
    canvas.setTrace(dense);
    const auto steps = dense->ofKind(ActivityKind::Step);
    canvas.bringIntoView({steps[40].begin, steps[80].end()});
    canvas.clearFocus();
    canvas.viewport()->grab();
    for (int i = 0; i < 3; ++i) {
        wheel({700, 300}, {0, -120});
        const QImage moving = canvas.viewport()->grab().toImage(), exact = canvas.picture(1);
        const QRect lanes = scene().lanesRect();
        int far = 0;
        for (int y = lanes.top(); y < lanes.bottom(); ++y)
            for (int x = lanes.left(); x < lanes.right(); ++x)
                far += std::abs(moving.pixelColor(x, y).lightness() - exact.pixelColor(x, y).lightness()) > 60;
        EXPECT_LT(far, lanes.width() * lanes.height() / 20) << i;
    }
}

TEST_F(TimelineCanvasTest, BelowTheLastRowIsBackground)
{
    canvas.resize(1200, 1600);
    const QRect lanes = scene().lanesRect();
    ASSERT_GT(lanes.bottom(), TimelineScene::kRulerHeight + scene().rows.height() + 20);
    for (const double ratio : {1.0, 1.5, 2.0}) {
        const QImage image = canvas.picture(ratio);
        for (const int y : {TimelineScene::kRulerHeight + scene().rows.height() + 2, lanes.bottom() - 2})
            for (const int x : {lanes.left() + 2, lanes.center().x(), lanes.right() - 2})
                EXPECT_EQ(image.pixelColor(QPoint(x, y) * ratio), scene().theme.background) << ratio << ' ' << x;
    }
}

TEST_F(TimelineCanvasTest, FollowsLightAndDark)
{
    const auto luminance = [&] { return colorAt({600, 650}).lightness(); };
    const int before = luminance();
    QPalette dark = canvas.palette();
    dark.setColor(QPalette::Base, QColor(0x16, 0x18, 0x1d));
    dark.setColor(QPalette::Text, QColor(0xe4, 0xe7, 0xeb));
    canvas.setPalette(dark);
    EXPECT_GT(before, 200);
    EXPECT_LT(luminance(), 60);
    EXPECT_TRUE(scene().theme.dark);
}

TEST_F(TimelineCanvasTest, HoveringShowsTheDetailsOfASlice)
{
    canvas.bringIntoView(step(7).range());
    const Slice forward = named(phase::kForward, step(7).range());
    const QPointF at = middleOf(forward);
    QMouseEvent move(QEvent::MouseMove, at, canvas.viewport()->mapToGlobal(at), Qt::NoButton, Qt::NoButton,
                     Qt::NoModifier);
    const QImage before = canvas.viewport()->grab().toImage();
    QApplication::sendEvent(canvas.viewport(), &move);
    ASSERT_TRUE(scene().hovered);
    EXPECT_EQ(scene().hovered->id, forward.id);
    const QPoint inCard = at.toPoint() + QPoint(30, 50);
    EXPECT_NE(canvas.viewport()->grab().toImage().copy(QRect(inCard, QSize(60, 40))),
              before.copy(QRect(inCard, QSize(60, 40))));
    QEvent leave(QEvent::Leave);
    QApplication::sendEvent(canvas.viewport(), &leave);
    EXPECT_FALSE(scene().hovered);
}

TEST_F(TimelineCanvasTest, AnArrowLeadsFromALaunchToItsKernel)
{
    Slice kernel = trace->ofKind(ActivityKind::Kernel).at(40);
    canvas.setSelectedSlice(kernel.id);
    ASSERT_FALSE(scene().flows.empty());
    EXPECT_EQ(trace->name(scene().flows[0].from), "cudaLaunchKernel");
    canvas.bringIntoView(kernel.range(), kernel.id.track);
    const QImage with = canvas.viewport()->grab().toImage();
    canvas.setSelectedSlice({});
    EXPECT_NE(with, canvas.viewport()->grab().toImage());
}

} // namespace
} // namespace app
