#include "app/charts/compact_bars.h"
#include "app/charts/step_charts.h"
#include "app/document/selection.h"
#include "app/findings/capture_notice.h"
#include "app/look/theme.h"
#include "app/tables/evidence_table.h"
#include "app/timeline/timeline_canvas.h"
#include "app/views/selection/selection_panel.h"
#include "app/views/steps/steps.h"
#include "app/views/summary/summary.h"
#include "app/views/summary/summary_sections.h"
#include "app/views/timeline/timeline_view.h"
#include "profiler/analysis/facts.h"
#include "tests/app_timeline/training_trace.h"
#include "tests/support/trace_text.h"

#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>
#include <gtest/gtest.h>

namespace app {
namespace {

using namespace profiler;

/// The views of one trace with a shared selection, as in the window.
class ViewsTest : public testing::Test {
protected:
    void SetUp() override
    {
        trace = test::trainingTrace({.steps = 30});
        facts = std::make_shared<const analysis::Facts>(analysis::analyse(*trace));
        timeline.resize(1000, 500);
        timeline.replaceTrace(trace);
        timeline.show();
        steps.resize(1000, 160);
        steps.setTrace(trace);
        steps.showSteps(facts->steps);
        steps.show();
        panel.resize(900, 300);
        panel.setTrace(trace);
        panel.show();
        summary.resize(1000, 600);
        summary.show(trace, facts);
        summary.QWidget::show();
    }

    const TimelineScene& scene() const { return timeline.canvas()->scene(); }
    static void clickRow(EvidenceTable* table, int row)
    {
        QTest::mouseClick(table->viewport(), Qt::LeftButton, Qt::NoModifier,
                          table->visualRect(table->model()->index(row, 0)).center());
    }
    EvidenceTable* table(QWidget& in, const char* name) const { return in.findChild<EvidenceTable*>(name); }
    QString name(const Slice& slice) const { return QString::fromStdString(std::string(trace->name(slice))); }

    std::shared_ptr<const Trace> trace;
    std::shared_ptr<const analysis::Facts> facts;
    Selection selection;
    QTemporaryDir bookmarks;
    TimelineView timeline{&selection, BookmarkStore(bookmarks.path())};
    StepsView steps{&selection};
    SelectionPanel panel{&selection};
    SummaryPanel summary{&selection};
};

TEST_F(ViewsTest, TheLoaderHasNoCostThatWasNotRecorded)
{
    const auto loaderOf = [&](const char* text) {
        const auto some = test_support::traceFromText(text);
        summary.show(some, std::make_shared<const analysis::Facts>(analysis::analyse(*some)));
        return summary.findChild<QLabel*>("loader")->text();
    };
    EXPECT_TRUE(summary.findChild<QLabel*>("loader")->text().contains("Loading a batch takes"));
    const QString none = loaderOf("main\n repeat 9 every 100\n step 0 0 100\n op aten::mm 10 80\n end");
    EXPECT_TRUE(none.contains("Loading was not recorded")) << none.toStdString();
    EXPECT_FALSE(none.contains("0 ns")) << none.toStdString();
    const QString wait = loaderOf("main\n repeat 9 every 100\n step 0 0 100\n phase \"data wait\" 0 40\n end");
    EXPECT_TRUE(wait.contains("Loading was not recorded;")) << wait.toStdString();
    EXPECT_FALSE(wait.contains("0 ns")) << wait.toStdString();
}

TEST_F(ViewsTest, TheStepsOfEachRankAreShown)
{
    const auto* ranks = summary.findChild<EvidenceTable*>("ranks");
    EXPECT_TRUE(ranks->isHidden()) << "one process";
    const auto several = test_support::traceFromText(
        "format pytorch-json\n"
        "repeat 5 every 100\nthread python11 pid=11 tid=11\nannotation ProfilerStep#10 0 100\n"
        "op aten::mm 5 20\ncall cudaLaunchKernel 6 5 corr=1\nstream 0 7\nkernel gemm 20 20 corr=1\nend\n"
        "repeat 5 every 120\nthread python12 pid=12 tid=12\nannotation ProfilerStep#10 3 120\n"
        "op aten::mm 8 20\ncall cudaLaunchKernel 9 5 corr=50000\nstream 1 7\nkernel gemm 23 30 corr=50000\nend\n");
    summary.show(several, std::make_shared<const analysis::Facts>(analysis::analyse(*several)));
    ASSERT_FALSE(ranks->isHidden());
    ASSERT_EQ(ranks->model()->rowCount(), 2);
    const auto cell = [&](int row, int column) { return ranks->model()->index(row, column).data().toString(); };
    EXPECT_EQ(cell(0, 0), "0");
    EXPECT_EQ(cell(0, 2), "5");
    EXPECT_EQ(cell(0, 3), "100 µs");
    EXPECT_EQ(cell(1, 3), "120 µs");
}

TEST_F(ViewsTest, ABarSelectsItsStepEverywhere)
{
    const QPointF at(steps.frame().xOf(12.5), steps.frame().plot.bottom() - 10);
    QTest::mouseClick(&steps, Qt::LeftButton, Qt::NoModifier, at.toPoint());
    ASSERT_TRUE(selection.slice());
    EXPECT_EQ(*selection.slice(), facts->steps[12].slice);
    ASSERT_TRUE(scene().selected);
    EXPECT_TRUE(QRectF(scene().lanesRect()).contains(scene().rectOf(*scene().selected))) << "the timeline goes there";
    EXPECT_EQ(panel.findChild<QLabel*>("sliceTitle")->text(), "step 12");
    EXPECT_EQ(steps.chosen(), 12);
}

TEST_F(ViewsTest, ASelectedSliceMarksItsBar)
{
    for (const Slice& kernel : trace->ofKind(ActivityKind::Kernel))
        if (facts->steps[7].range.contains(kernel.begin)) {
            selection.selectSlice(kernel.id);
            break;
        }
    EXPECT_EQ(steps.chosen(), 7);
    selection.clear();
    EXPECT_FALSE(steps.chosen());
    selection.selectRange({facts->steps[3].range.begin + Nanoseconds{10}, facts->steps[5].range.end});
    EXPECT_EQ(steps.chosen(), 3);
}

TEST_F(ViewsTest, ArrowKeysGoFromBarToBar)
{
    steps.setChosen(4);
    QTest::keyClick(&steps, Qt::Key_Right);
    EXPECT_EQ(*selection.slice(), facts->steps[5].slice);
    QTest::keyClick(&steps, Qt::Key_Left);
    QTest::keyClick(&steps, Qt::Key_Left);
    EXPECT_EQ(*selection.slice(), facts->steps[3].slice);
    QTest::keyClick(&steps, Qt::Key_End);
    EXPECT_EQ(steps.chosen(), 29);
    QTest::keyClick(&steps, Qt::Key_Right);
    EXPECT_EQ(steps.chosen(), 29) << "stays at the last one";
}

TEST_F(ViewsTest, MoreStepsThanPixelsShareBars)
{
    EXPECT_EQ(steps.stepsPerBar(), 1);
    std::vector<analysis::Step> many;
    for (int i = 0; i < 5000; ++i) {
        many.push_back(facts->steps[5]);
        many.back().index = i;
        many.back().range = {traceTime(i * 1000), traceTime(i * 1000 + 1000)};
    }
    StepBars bars;
    bars.resize(1000, 160);
    bars.setSteps(many);
    bars.show();
    EXPECT_GE(bars.stepsPerBar(), 5);
    EXPECT_FALSE(bars.grab().isNull());
    QTest::mouseClick(&bars, Qt::LeftButton, Qt::NoModifier,
                      QPointF(bars.frame().xOf(2500), bars.frame().plot.bottom() - 5).toPoint());
    ASSERT_TRUE(bars.chosen());
    EXPECT_NEAR(*bars.chosen(), 2500, 2 * bars.stepsPerBar());
}

TEST_F(ViewsTest, ALongFirstStepDoesNotFlattenTheOthers)
{
    const double steady = static_cast<double>(facts->steps[5].range.duration().count()) / 1000;
    const double first = static_cast<double>(facts->steps[0].range.duration().count()) / 1000;
    ASSERT_GT(first, 2 * steady);
    EXPECT_LT(steps.frame().topUs, 2 * steady);
}

TEST_F(ViewsTest, ThePanelListsTheDetailsOfASlice)
{
    const Slice kernel = trace->ofKind(ActivityKind::Kernel).at(25);
    selection.selectSlice(kernel.id);
    EXPECT_EQ(panel.findChild<QLabel*>("sliceTitle")->text(), name(kernel));
    QPushButton* launch = nullptr;
    for (QPushButton* button : panel.findChildren<QPushButton*>())
        if (button->text().startsWith("cudaLaunchKernel"))
            launch = button;
    ASSERT_TRUE(launch);
    QTest::mouseClick(launch, Qt::LeftButton);
    QCoreApplication::processEvents();
    ASSERT_TRUE(selection.slice());
    EXPECT_EQ(name(trace->slice(*selection.slice())), "cudaLaunchKernel");
    EXPECT_TRUE(scene().lanesRect().contains(scene().rectOf(*scene().selected).center().toPoint()));
}

TEST_F(ViewsTest, ThePanelSumsARange)
{
    const TimeRange range{facts->steps[5].range.begin, facts->steps[6].range.end};
    selection.selectRange(range);
    EvidenceTable* names = table(panel, "byName");
    ASSERT_TRUE(QTest::qWaitFor([&] { return names->model()->rowCount() > 0; }, 5000));
    EXPECT_LE(names->model()->rowCount(), 500);
    EXPECT_TRUE(panel.findChild<QLabel*>("rangeTitle")->text().contains("selected, starting at"));
    const QString first = names->model()->index(0, 0).data().toString();
    clickRow(names, 0);
    ASSERT_TRUE(selection.slice());
    EXPECT_EQ(name(trace->slice(*selection.slice())), first);
    EXPECT_TRUE(range.overlaps(trace->slice(*selection.slice()).range()));
}

TEST_F(ViewsTest, AHeadingSortsTheTable)
{
    selection.selectRange(trace->range());
    EvidenceTable* names = table(panel, "byName");
    ASSERT_TRUE(QTest::qWaitFor([&] { return names->model()->rowCount() > 5; }, 5000));
    names->sortByColumn(3, Qt::AscendingOrder);
    double last = 0;
    for (int row = 0; row < names->model()->rowCount(); ++row) {
        const double count = names->model()->index(row, 3).data(EvidenceModel::kSortRole).toDouble();
        EXPECT_GE(count, last);
        last = count;
    }
    EXPECT_GT(last, 1);
}

TEST_F(ViewsTest, TheSummaryShowsWhereAStepsTimeGoes)
{
    EvidenceTable* parts = table(summary, "parts");
    ASSERT_GE(parts->model()->rowCount(), 7);
    double shares = 0;
    for (int row = 0; row < parts->model()->rowCount(); ++row)
        shares += parts->model()->index(row, 2).data(EvidenceModel::kSortRole).toDouble();
    EXPECT_NEAR(shares, 1, 1e-9);
    EXPECT_TRUE(summary.findChild<QLabel*>("headline")->text().contains("ms"));
    EXPECT_TRUE(summary.findChild<QLabel*>("statistics")->text().contains("30 steps"));
    EXPECT_TRUE(summary.findChild<QLabel*>("loader")->text().contains("2 loader workers"));
    EXPECT_GE(table(summary, "stages")->model()->rowCount(), 4);
    EXPECT_GE(table(summary, "ops")->model()->rowCount(), 5);
}

TEST_F(ViewsTest, RowsOfTheSummaryLinkToTheirEvidence)
{
    clickRow(table(summary, "parts"), 0);
    ASSERT_TRUE(selection.slice());
    EXPECT_EQ(name(trace->slice(*selection.slice())), "data wait");
    clickRow(table(summary, "stages"), 0);
    EXPECT_EQ(trace->slice(*selection.slice()).kind, ActivityKind::LoaderStage);
    clickRow(table(summary, "ops"), 1);
    EXPECT_EQ(trace->slice(*selection.slice()).kind, ActivityKind::CpuOp);
    EXPECT_TRUE(scene().lanesRect().contains(scene().rectOf(*scene().selected).center().toPoint()));
    auto* bar = summary.findChild<PartsBar*>();
    QTest::mouseClick(bar, Qt::LeftButton, Qt::NoModifier, {bar->width() / 2, 10});
    EXPECT_EQ(trace->slice(*selection.slice()).kind, ActivityKind::Phase);
    auto* chart = summary.findChild<StepTimesChart*>();
    QTest::mouseClick(chart, Qt::LeftButton, Qt::NoModifier,
                      QPointF(chart->frame().xOf(9.5), chart->frame().plot.center().y()).toPoint());
    EXPECT_EQ(*selection.slice(), facts->steps[9].slice);
}

TEST_F(ViewsTest, ReturnOnARowShowsItsEvidence)
{
    EvidenceTable* parts = table(summary, "parts");
    parts->setCurrentIndex(parts->model()->index(3, 0));
    QTest::keyClick(parts, Qt::Key_Return);
    ASSERT_TRUE(selection.slice());
    EXPECT_EQ(name(trace->slice(*selection.slice())), "forward");
}

TEST_F(ViewsTest, AnotherTraceClearsTheSelection)
{
    selection.selectSlice(facts->steps[20].slice);
    const auto small = test::trainingTrace({.steps = 2, .loaderWorkers = 0, .gpu = false});
    timeline.replaceTrace(small);
    panel.setTrace(small);
    EXPECT_FALSE(selection.slice());
    EXPECT_FALSE(panel.grab().isNull());
}

TEST_F(ViewsTest, EvidenceOfAnotherTraceIsNotFollowed)
{
    const auto small = test::trainingTrace({.steps = 2, .loaderWorkers = 0, .gpu = false});
    timeline.replaceTrace(small);
    panel.setTrace(small);
    steps.setTrace(small);
    selection.selectSlice({{0}, 1'000'000});
    EXPECT_FALSE(scene().selected);
    selection.selectSlice({{99}, 0});
    EXPECT_FALSE(scene().selected);
    EXPECT_FALSE(steps.chosen());
}

TEST_F(ViewsTest, AnUnchangedSnapshotDoesNotUpdateThePanel)
{
    selection.selectSlice(facts->steps[3].slice);
    const auto labels = panel.findChildren<QLabel*>();
    panel.setTrace(trace);
    EXPECT_EQ(panel.findChildren<QLabel*>(), labels);
}

TEST_F(ViewsTest, EmptyViewsSayWhatToExpect)
{
    summary.show(nullptr, nullptr);
    steps.showSteps({});
    EXPECT_FALSE(steps.grab().isNull());
    bool said = false;
    for (const QLabel* label : summary.findChildren<QLabel*>())
        said = said || (label->isVisible() && label->text().contains("No complete step yet"));
    EXPECT_TRUE(said);
}

TEST(CaptureNotice, ReportsLostEventsOnly)
{
    CaptureStats stats;
    EXPECT_TRUE(captureNotice(stats, Writer::Stepscope).isEmpty());
    stats.cut = true;
    EXPECT_TRUE(captureNotice(stats, Writer::Stepscope).contains("killed"));
    stats.dropped = 12'345;
    EXPECT_TRUE(captureNotice(stats, Writer::Stepscope).contains("12,345 events were dropped"));
    stats.unmatched = 3;
    EXPECT_TRUE(captureNotice(stats, Writer::Stepscope).contains("3 unmatched events"));
    stats.live = true;
    EXPECT_FALSE(captureNotice(stats, Writer::Stepscope).contains("3 unmatched events"))
        << "their other events may still arrive";
    stats.notes = {{"images.unread", {}, "2 images could not be read."}};
    EXPECT_TRUE(captureNotice(stats, Writer::Stepscope).contains("2 images could not be read."));
}

TEST(CaptureNotice, DoesNotBlameARunForAnImportedFile)
{
    CaptureStats stats;
    stats.cut = true;
    stats.dropped = 1;
    const QString said = captureNotice(stats, Writer::Other);
    EXPECT_TRUE(said.contains("The file is truncated")) << said.toStdString();
    EXPECT_TRUE(said.contains("1 event was lost during recording or could not be read")) << said.toStdString();
    EXPECT_FALSE(said.contains("disk is full") || said.contains("lower level")) << said.toStdString();
}

TEST(CaptureNotice, CanBeReadInBothThemes)
{
    QWidget window;
    CaptureNotice notice(&window);
    CaptureStats stats;
    stats.unmatched = 3;
    notice.setStats(stats, Writer::Stepscope);
    notice.resize(700, 32);
    for (const bool dark : {false, true}) {
        window.setPalette(themePalette(dark));
        const QColor ground = notice.grab().toImage().pixelColor(notice.width() - 2, 2);
        EXPECT_EQ(isDark(window.palette()), ground.lightness() < 128) << "like the window";
        EXPECT_GE(contrastRatio(ground, notice.palette().color(QPalette::WindowText)), 4.5);
        for (const QToolButton* button : notice.findChildren<QToolButton*>())
            EXPECT_GE(contrastRatio(ground, button->palette().color(QPalette::ButtonText)), 4.5)
                << button->objectName().toStdString();
    }
}

TEST(MemorySummary, ShowsTheMemoryOwnersAndLinksToTheStep)
{
    MemorySummary summary(nullptr);
    summary.show({}, {});
    EXPECT_FALSE(summary.isVisibleTo(nullptr));
    analysis::Step step;
    step.index = 3;
    step.range = {traceTime(100), traceTime(200)};
    const std::vector<analysis::MemoryMoment> moments = {
        {"GPU 0", true, 8'000'000'000, 500'000'000, {}},
        {"CPU", false, 48'000'000, {}, {{40'000'000, 2, 3, "forward", "aten::mm"}, {8'000'000, 30, {}, "", "", true}}}};
    summary.show(moments, {step});
    const auto sentences = summary.findChildren<QLabel*>("memorySentence");
    ASSERT_EQ(sentences.size(), 2);
    EXPECT_TRUE(sentences[0]->text().contains("500 MB more requested"));
    EXPECT_TRUE(sentences[1]->text().contains("48.0 MB"));
    const auto tables = summary.findChildren<EvidenceTable*>("memoryHolders");
    ASSERT_EQ(tables.size(), 1);
    const EvidenceModel& model = *tables[0]->evidence();
    ASSERT_EQ(model.rowCount(), 2);
    EXPECT_EQ(model.row(0).cells[0].text, "aten::mm");
    EXPECT_EQ(model.row(0).evidence.range, step.range);
    EXPECT_FALSE(model.row(1).evidence.range);
    summary.show(moments, {step});
    EXPECT_EQ(summary.findChildren<EvidenceTable*>().first(), tables[0]) << "equal content changes nothing";
}

TEST(CaptureNotice, StaysClosedUntilSomethingNewIsLost)
{
    QWidget window;
    CaptureNotice notice(&window);
    window.show();
    CaptureStats stats;
    stats.dropped = 10;
    notice.setStats(stats, Writer::Stepscope);
    EXPECT_TRUE(notice.isVisible());
    QTest::mouseClick(notice.findChild<QAbstractButton*>(), Qt::LeftButton);
    EXPECT_FALSE(notice.isVisible());
    notice.setStats(stats, Writer::Stepscope);
    EXPECT_FALSE(notice.isVisible());
    stats.dropped = 20;
    notice.setStats(stats, Writer::Stepscope);
    EXPECT_TRUE(notice.isVisible());
}

} // namespace
} // namespace app
