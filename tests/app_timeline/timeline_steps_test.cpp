#include "app/timeline/timeline_scene.h"

#include "app/views/timeline/timeline_view.h"
#include "tests/app_timeline/timeline_canvas_fixture.h"
#include "tests/support/trace_text.h"

#include <QSignalSpy>
#include <QTemporaryDir>

namespace app {
namespace {

using namespace profiler;

std::shared_ptr<const Steps> found(const Trace& trace)
{
    return std::make_shared<const Steps>(analysis::findSteps(trace));
}

class RulerTest : public testing::Test {
protected:
    void show(std::shared_ptr<const Trace> shown, std::shared_ptr<const Steps> steps)
    {
        trace = std::move(shown);
        canvas.resize(1200, 400);
        canvas.setTrace(trace);
        canvas.setSteps(std::move(steps));
        canvas.show();
        ASSERT_TRUE(QTest::qWaitForWindowExposed(&canvas));
    }
    QPoint onRuler(TraceTime time) const
    {
        return {static_cast<int>(canvas.scene().xOf(time)), TimelineScene::kAxisHeight + 5};
    }
    void click(QPoint at) { QTest::mouseClick(canvas.viewport(), Qt::LeftButton, Qt::NoModifier, at); }
    QColor colorAt(QPoint at) { return canvas.viewport()->grab().toImage().pixelColor(at); }

    std::shared_ptr<const Trace> trace;
    TimelineCanvas canvas;
};

TEST_F(RulerTest, StepsBelowPythonFramesAreDrawnAndClicked)
{
    const auto nested = test_support::traceFromText(R"(
        main
          other "<string>(1): <module>" 0 1000
          other "train.py(7): train" 10 980
          step 4 100 300
          step 5 500 300
    )");
    show(nested, found(*nested));
    const auto middle = [](const Slice& slice) { return slice.begin + slice.duration / 2; };
    const auto steps = nested->ofKind(ActivityKind::Step);
    ASSERT_EQ(steps.size(), 2U);
    ASSERT_EQ(steps[0].depth, 2);
    const QColor between = colorAt(onRuler(traceTime(450'000)));
    EXPECT_NE(colorAt(onRuler(middle(steps[0]))), between);
    EXPECT_NE(colorAt(onRuler(middle(steps[0]))), colorAt(onRuler(middle(steps[1])))) << "even and odd differ";
    click(onRuler(middle(steps[1])));
    ASSERT_TRUE(canvas.scene().selected);
    EXPECT_EQ(canvas.scene().selected->id, steps[1].id);
    click(onRuler(traceTime(450'000)));
    EXPECT_FALSE(canvas.scene().selected) << "there is no step between steps";
}

TEST_F(RulerTest, CallsOfAMainThreadAreNotSteps)
{
    const auto calls =
        test_support::traceFromText("main\n call cudaLaunchKernel 0 100\n call cudaLaunchKernel 200 100");
    show(calls, found(*calls));
    EXPECT_FALSE(canvas.scene().hasSteps());
    EXPECT_EQ(colorAt(onRuler(traceTime(50'000))), colorAt(onRuler(traceTime(150'000))));
    click(onRuler(traceTime(50'000)));
    EXPECT_FALSE(canvas.scene().selected);
}

TEST_F(RulerTest, AnInferredStepIsSelectedAsARange)
{
    Steps steps(3);
    const auto kernels = test_support::traceFromText("repeat 3 every 100\nstream 0 7\n kernel gemm 0 80\nend");
    for (int i = 0; i < 3; ++i) {
        auto& step = steps[static_cast<std::size_t>(i)];
        step.index = i;
        step.range = {traceTime(i * 100'000), traceTime(i * 100'000 + 90'000)};
        step.found = true;
    }
    show(kernels, std::make_shared<const Steps>(steps));
    QSignalSpy ranges(&canvas, &TimelineCanvas::rangeSelected);
    click(onRuler(traceTime(150'000)));
    ASSERT_EQ(ranges.size(), 1);
    EXPECT_EQ(ranges[0][0].value<TimeRange>(), steps[1].range);
    EXPECT_FALSE(canvas.scene().selected);
}

TEST_F(RulerTest, ThousandsOfStepsAreOneShade)
{
    const auto many =
        test_support::traceFromText("repeat 5000 every 100\nmain\n step 0 0 90\nend\nmain\n step 9 600000 90");
    show(many, found(*many));
    const QColor dense = colorAt(onRuler(traceTime(100'000'000)));
    EXPECT_EQ(dense, colorAt(onRuler(traceTime(333'333'000))));
    EXPECT_NE(dense, colorAt(onRuler(traceTime(550'000'000)))) << "if there are none";
}

TEST(TimelineSteps, ThoseOfALiveTraceNeedNotWaitForTheNextAnalysis)
{
    TraceBuilder builder;
    builder.captureStats().live = true;
    test_support::TextFeeder feeder(builder);
    feeder.feed("main\n step 0 0 100\n step 1 100 100");
    const auto early = builder.snapshot();
    const auto analysed = found(*early);
    ASSERT_EQ(analysed->size(), 2U);
    KnownSteps known;
    known.take(*early, nullptr);
    EXPECT_EQ(known.steps()->size(), 2U) << "nor for the first";
    known.take(*early, std::make_shared<const Steps>());
    EXPECT_EQ(known.steps()->size(), 2U) << "an analysis before the first step is ignored";
    known.take(*early, analysed);
    EXPECT_EQ(known.steps(), analysed) << "there are no others";
    feeder.feed("main\n step 2 200 100\n phase validation 300 50\n step 3 350 40");
    known.follow(*builder.snapshot());
    ASSERT_EQ(known.steps()->size(), 4U);
    EXPECT_EQ(known.steps()->at(3).index, 3);
    EXPECT_EQ(known.steps()->at(3).range, (TimeRange{traceTime(350'000), traceTime(390'000)}));
    EXPECT_EQ(analysed->size(), 2U) << "other processes use these cores";
    feeder.feed("main\n step 4 390 40");
    const auto* before = known.steps().get();
    known.follow(*builder.snapshot());
    EXPECT_EQ(known.steps()->size(), 5U);
    EXPECT_EQ(known.steps().get(), before) << "the steps of a long run are not copied for each new one";
    builder.captureStats().live = false;
    known.take(*builder.finish(), analysed);
    EXPECT_EQ(known.steps(), analysed) << "the analysis of the whole trace";
}

TEST(TimelineSteps, AnOpenStepGrows)
{
    TraceBuilder builder;
    builder.captureStats().live = true;
    test_support::TextFeeder feeder(builder);
    feeder.feed("main\n step 0 0 100\n step 1 100 100");
    const auto trace = builder.snapshot();
    auto shorter = analysis::findSteps(*trace);
    shorter.back().range.end = traceTime(150'000);
    KnownSteps known;
    known.take(*trace, std::make_shared<const Steps>(shorter));
    ASSERT_EQ(known.steps()->size(), 2U);
    EXPECT_EQ(known.steps()->back().range.end, traceTime(200'000));
}

TEST(GoToStep, FindsInferredSteps)
{
    const auto trace = test_support::traceFromText("repeat 4 every 100\nstream 0 7\n kernel gemm 0 80\nend");
    auto steps = std::make_shared<Steps>(2);
    steps->at(1).index = 1;
    steps->at(1).range = {traceTime(100'000), traceTime(180'000)};
    steps->at(1).found = true;
    Selection selection;
    QTemporaryDir folder;
    TimelineView view(&selection, BookmarkStore(folder.filePath("kept")));
    view.resize(1000, 400);
    view.replaceTrace(trace);
    view.showSteps(steps);
    view.show();
    EXPECT_TRUE(view.goTo("step 1").isEmpty());
    EXPECT_EQ(selection.range(), steps->at(1).range);
    EXPECT_TRUE(view.goTo("step 12").contains("12"));
}

} // namespace
} // namespace app
