#pragma once

#include "app/timeline/timeline_canvas.h"
#include "tests/app_timeline/training_trace.h"

#include <QApplication>
#include <QMouseEvent>
#include <QTest>
#include <QWheelEvent>
#include <gtest/gtest.h>

namespace app {

/// A visible, active canvas with a training trace.
class TimelineCanvasTest : public testing::Test {
protected:
    void SetUp() override
    {
        trace = test::trainingTrace({.steps = 30});
        canvas.resize(1200, 700);
        canvas.setTrace(trace);
        canvas.setSteps(std::make_shared<const Steps>(profiler::analysis::findSteps(*trace)));
        canvas.show();
        canvas.activateWindow();
        canvas.setFocus();
        ASSERT_TRUE(QTest::qWaitForWindowActive(&canvas));
    }

    const TimelineScene& scene() const { return canvas.scene(); }
    profiler::Slice step(std::size_t index) const { return trace->ofKind(profiler::ActivityKind::Step).at(index); }

    profiler::Slice named(std::string_view name, profiler::TimeRange within) const
    {
        for (const profiler::Track& track : trace->tracks())
            for (const profiler::Slice& slice : trace->sorted(track.id))
                if (trace->name(slice) == name && within.contains(slice.begin))
                    return slice;
        ADD_FAILURE() << "no slice " << name;
        return {};
    }

    QPoint middleOf(const profiler::Slice& slice) const { return scene().rectOf(slice).center().toPoint(); }
    void click(QPoint at) { QTest::mouseClick(canvas.viewport(), Qt::LeftButton, Qt::NoModifier, at); }
    void key(Qt::Key which, Qt::KeyboardModifiers modifiers = Qt::NoModifier)
    {
        QTest::keyClick(&canvas, which, modifiers);
    }

    void drag(QPoint from, QPoint to, Qt::KeyboardModifiers modifiers = Qt::NoModifier)
    {
        QTest::mousePress(canvas.viewport(), Qt::LeftButton, modifiers, from);
        for (int i = 1; i <= 4; ++i) {
            const QPointF at = QPointF(from) + QPointF(to - from) * i / 4;
            QMouseEvent move(QEvent::MouseMove, at, canvas.viewport()->mapToGlobal(at), Qt::NoButton, Qt::LeftButton,
                             modifiers);
            QApplication::sendEvent(canvas.viewport(), &move);
        }
        QTest::mouseRelease(canvas.viewport(), Qt::LeftButton, modifiers, to);
    }

    void wheel(QPointF at, QPoint angle, Qt::KeyboardModifiers modifiers = Qt::NoModifier, QPoint pixels = {},
               Qt::ScrollPhase phase = Qt::NoScrollPhase)
    {
        QWheelEvent event(at, canvas.viewport()->mapToGlobal(at), pixels, angle, Qt::NoButton, modifiers, phase, false);
        QApplication::sendEvent(canvas.viewport(), &event);
    }

    /// The picture when no lane is deferred any more; each frame reads at least one lane.
    QImage exact()
    {
        QImage image;
        for (int frame = 0; frame < 100; ++frame) {
            image = canvas.viewport()->grab().toImage().convertToFormat(QImage::Format_RGB32);
            if (canvas.isExact())
                return image;
        }
        ADD_FAILURE() << "it does not end";
        return image;
    }

    QColor colorAt(QPoint at) { return canvas.viewport()->grab().toImage().pixelColor(at); }

    std::shared_ptr<const profiler::Trace> trace;
    TimelineCanvas canvas;
};

} // namespace app
