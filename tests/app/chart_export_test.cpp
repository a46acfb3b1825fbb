#include "app/charts/chart.h"

#include "app/charts/compact_bars.h"
#include "app/charts/step_charts.h"
#include "app/charts/xy_chart.h"
#include "app/findings/loss_charts.h"
#include "app/views/compare/distribution_chart.h"
#include "app/views/live/live.h"
#include "app/views/tune/tune_trials.h"
#include "profiler/analysis/steps/steps.h"
#include "tests/app/app_support.h"
#include "tests/support/trace_text.h"

#include <QAction>
#include <QClipboard>
#include <QHelpEvent>
#include <QImage>
#include <QSvgRenderer>
#include <QTemporaryDir>
#include <QTest>
#include <QToolTip>

using app_test::find;

namespace {

std::vector<profiler::analysis::Step> steps()
{
    std::vector<profiler::analysis::Step> made;
    for (int i = 0; i < 10; ++i) {
        profiler::analysis::Step& step = made.emplace_back();
        step.index = i;
        step.range = {profiler::traceTime(i * 2000), profiler::traceTime(i * 2000 + 1000 + i)};
        step.parts.forward = profiler::Nanoseconds{600};
        step.parts.other = profiler::Nanoseconds{400 + i};
    }
    return made;
}

/// Shows a chart and returns what "Copy values" puts on the clipboard.
QString copiedValues(QWidget& chart)
{
    chart.resize(400, 160);
    chart.show();
    find<QAction>(&chart, "chartCopyValues")->trigger();
    return QGuiApplication::clipboard()->text();
}

QByteArray contentOf(const QString& path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

} // namespace

/// Charts as images and values.
class ChartExportTest : public QObject {
    Q_OBJECT
private slots:
    void valuesAreCopiedExactly();
    void aChartIsAnImage();
    void aChartIsSavedInThreeFormats();
    void aDistributionSaysWhatIsUnderThePointer();
    void theLossOfArmsHasABandOverTheSeeds();
    void theLossesOfTwoTracesShareAnAxis();
    void throughputIsShownForEachMeasuredValue();
};

void ChartExportTest::valuesAreCopiedExactly()
{
    app::StepBars bars;
    bars.setSteps(steps());
    const QStringList lines = copiedValues(bars).split('\n');
    QCOMPARE(lines[0], QString("Step,Duration (ns),data wait (ns),copy (ns),zero grad (ns),forward (ns),backward (ns),"
                               "optimizer (ns),metrics (ns),other (ns)"));
    QCOMPARE(lines[4], QString("3,1003,0,0,0,600,0,0,0,403"));
    app::StepTimesChart times;
    times.setSteps(steps(), 1.0);
    QCOMPARE(copiedValues(times).split('\n')[4], QString("3,6000,1003,1"));
    app::PartsBar parts;
    parts.setParts({{app::SliceClass::Forward, "forward", 0.6, {}}, {app::SliceClass::Other, "other", 0.4, {}}});
    QCOMPARE(copiedValues(parts), QString("Part,Share\nforward,0.6\nother,0.4\n"));
    app::DistributionBar bins;
    bins.setBins({3, 0}, 0, {"1.00 ms to 2.00 ms: 3", "2.00 ms to 4.00 ms: 0"});
    QCOMPARE(copiedValues(bins), QString("Bin,Count\n1.00 ms to 2.00 ms,3\n2.00 ms to 4.00 ms,0\n"));
    app::DistributionChart both(nullptr);
    both.show({"a, b", {1.5}}, {"other", {2, 2.25}});
    QCOMPARE(copiedValues(both), QString("Run,Step time (ns)\n\"a, b\",1500\nother,2000\nother,2250\n"));
    app::Sparkline line("Loss", nullptr);
    line.show("0.5", {2, 1, 0.5, 0.25});
    QCOMPARE(copiedValues(line).split('\n')[2], QString("0.5,1"));
}

void ChartExportTest::aChartIsAnImage()
{
    app::StepBars bars;
    bars.setSteps(steps());
    bars.resize(400, 160);
    bars.show();
    find<QAction>(&bars, "chartCopyImage")->trigger();
    const QImage image = QGuiApplication::clipboard()->image();
    QCOMPARE(image.size(), QSize(800, 320));
    QSet<QRgb> colors;
    for (int y = 0; y < image.height(); ++y)
        for (int x = 0; x < image.width(); ++x)
            colors << image.pixel(x, y);
    QVERIFY(colors.size() >= 3); // background, forward, other
}

void ChartExportTest::aChartIsSavedInThreeFormats()
{
    app::StepTimesChart times;
    times.setSteps(steps(), 1.0);
    times.resize(400, 160);
    times.show();
    const QTemporaryDir folder;
    for (const char* name : {"chart.png", "chart.svg", "chart.csv"}) {
        const app_test::SaveAs dialog(folder.filePath(name));
        find<QAction>(&times, "chartSave")->trigger();
        QVERIFY(dialog.asked());
    }
    QVERIFY(QImage(folder.filePath("chart.png")).width() >= 800);
    const QByteArray svg = contentOf(folder.filePath("chart.svg"));
    QVERIFY(QSvgRenderer(svg).isValid());
    QVERIFY2(svg.contains("<text") && !svg.contains("<image"), "texts and lines, no pixels");
    QVERIFY(contentOf(folder.filePath("chart.csv")).startsWith("Step,"));
}

void ChartExportTest::aDistributionSaysWhatIsUnderThePointer()
{
    app::DistributionChart chart(nullptr);
    chart.show({"mine", std::vector<double>(50, 1000)}, {"other", {1500, 1600}});
    chart.resize(400, 160);
    QWidget& widget = chart;
    widget.show(); // not the overload of the chart
    bool found = false;
    for (int x = 0; x < chart.width() && !found; x += 3) {
        QHelpEvent help(QEvent::ToolTip, QPoint(x, 50), chart.mapToGlobal(QPoint(x, 50)));
        QApplication::sendEvent(&chart, &help);
        found = QToolTip::text().contains("50 steps of mine");
    }
    QVERIFY2(found, qPrintable(QToolTip::text()));
}

void ChartExportTest::theLossOfArmsHasABandOverTheSeeds()
{
    // The second seed of the baseline has twice the loss; the change halves the time.
    const auto curve = [](double seconds, double loss) {
        return std::vector<advisor::LossPoint>{{seconds, 100, 2 * loss}, {2 * seconds, 200, loss}};
    };
    const std::vector<advisor::LossesOfSeed> seeds = {{curve(1, 1), curve(0.5, 1)}, {curve(1, 2), curve(0.5, 1)}};
    const auto content = app::lossOfArms(seeds, app::LossOver::Time);
    QCOMPARE(content.series.size(), std::size_t{2});
    const auto& before = content.series[0].points;
    QCOMPARE(before.front().x, 1.0);
    QCOMPARE(before.back().x, 2.0);
    QCOMPARE(before.back().y, 1.5);
    QCOMPARE(before.back().low, 1.0);
    QCOMPARE(before.back().high, 2.0);
    QCOMPARE(content.series[1].points.back().x, 1.0);
    QCOMPARE(app::lossOfArms(seeds, app::LossOver::Samples).series[1].points.back().x, 200.0);
    QVERIFY(content.series[0].pen != content.series[1].pen); // not by colour alone

    app::XyChart chart("loss", nullptr);
    chart.show(content);
    QVERIFY2(copiedValues(chart).split('\n')[0] == "Series,Training time (s),Loss,Low,High",
             qPrintable(copiedValues(chart)));
    QVERIFY(copiedValues(chart).contains("without the change,2,1.5,1,2\n"));
    chart.grab();
    const QString tip = chart.tipAt(chart.placeOf(2, 1.5));
    QVERIFY2(tip.contains("without the change") && tip.contains("1.5") && tip.contains("2 seeds"), qPrintable(tip));
    QVERIFY(chart.tipAt({1, 1}).isEmpty());
    QVERIFY(QSvgRenderer(app::chartSvg(chart)).isValid());
    // Without values, the chart says what is missing.
    chart.show(app::lossOfArms({}, app::LossOver::Time));
    QVERIFY(!chart.accessibleDescription().isEmpty());
}

void ChartExportTest::theLossesOfTwoTracesShareAnAxis()
{
    const auto trace = test_support::traceFromText(R"(
        main
          repeat 4 every 1000
            step 0 0 1000
          end
        counter loss
          sample 1000 2
          sample 2000 1
          sample 3000 0.5
    )");
    const auto loss = app::lossOfTrace(*trace, profiler::analysis::findSteps(*trace));
    QCOMPARE(loss.points.size(), std::size_t{3});
    QCOMPARE(loss.points[1].steps, 2.0);
    QCOMPARE(loss.points[1].seconds, 0.002);
    QCOMPARE(loss.samplesPerStep, 0); // no configuration
    const auto none = app::lossOfTrace(*test_support::traceFromText("main\nop a 0 1"), {});
    QVERIFY(none.points.empty());
    const auto content = app::lossOfTraces(none, loss, app::LossOver::StepCount);
    QVERIFY(content.series[0].points.empty());
    QCOMPARE(content.series[1].points[2].x, 3.0);
    QCOMPARE(content.series[1].points[2].y, 0.5);
}

void ChartExportTest::throughputIsShownForEachMeasuredValue()
{
    std::vector<advisor::TuneTrial> trials(2);
    for (std::size_t i = 0; i < trials.size(); ++i) {
        trials[i].change =
            i == 0 ? advisor::Toggle{"loader.workers", "0", "2"} : advisor::Toggle{"precision", "a", "b"};
        auto& result = trials[i].result.emplace();
        result.plan.changes = {trials[i].change};
        result.samplesPerSecondA = 100;
        result.samplesPerSecondB = 150;
        result.samplesPerSecond = {1.5, 1.4, 1.6};
    }
    std::vector<app::RunRecord> runs(2);
    const config::TrainingConfig tuned;
    QVERIFY(runs[0].configuration.set("loader.workers", "4"));
    runs[0].outcome.samplesPerSecond = 160;
    QVERIFY(runs[1].configuration.set("batch.size", "64")); // another batch size is not comparable
    runs[1].outcome.samplesPerSecond = 900;
    const auto content = app::throughputOver("loader.workers", trials, runs, &tuned);
    const auto& single = content.series[0].points;
    QCOMPARE(single.size(), std::size_t{1});
    QCOMPARE(single[0].x, 4.0);
    QCOMPARE(single[0].y, 160.0);
    const auto& measured = content.series[1].points;
    QCOMPARE(measured.size(), std::size_t{2});
    QCOMPARE(measured[0].x, 0.0);
    QCOMPARE(measured[0].y, 100.0);
    QCOMPARE(measured[1].x, 2.0);
    QCOMPARE(measured[1].low, 140.0);
    QCOMPARE(measured[1].high, 160.0);
    QVERIFY(app::throughputOver("loader.workers", {}, runs, nullptr).series[0].points.empty());
}

QTEST_MAIN(ChartExportTest)
#include "chart_export_test.moc"
