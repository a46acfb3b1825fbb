#include "app/charts/chart_export.h"

#include "app/charts/distribution_bar.h"
#include "app/charts/parts_bar.h"
#include "app/charts/step_bars.h"
#include "app/charts/step_times_chart.h"
#include "app/views/compare/distribution_chart.h"
#include "app/views/live/sparkline.h"
#include "tests/app/app_support.h"

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

QTEST_MAIN(ChartExportTest)
#include "chart_export_test.moc"
