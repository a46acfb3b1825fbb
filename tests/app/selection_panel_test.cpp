#include "app/look/theme.h"
#include "app/views/selection/selection_panel.h"
#include "profiler/analysis/steps/steps.h"
#include "profiler/model/trace.h"
#include "profiler/model/trace_builder.h"
#include "tests/support/trace_text.h"

#include <QDir>
#include <QFile>
#include <QLabel>
#include <QPushButton>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>

using namespace profiler;
using app::Selection;
using app::SelectionPanel;

namespace {

/// A file with the arguments of one slice, at byte 100.
class OneSliceFile : public ArgSource {
public:
    [[nodiscard]] Result<SliceDetails> read(std::uint64_t source) const override
    {
        if (source != 100)
            return tl::unexpected(Error{Error::Code::Malformed,
                                        {"test.changed", {}, "the file has changed since it was opened"},
                                        "trace.json, byte " + std::to_string(source),
                                        "open it again"});
        return SliceDetails{
            {"ph", "X"},     {"name", "gemm"},        {"ts", "1621401187223005"},          {"pid", "8801"},
            {"tid", "8802"}, {"grid", "[128, 1, 1]"}, {"est. achieved occupancy %", "41"}, {"tid", "mine"}};
    }
};

/// @param kernels  consecutive kernels of 500 ns each
/// @param whole  includes the file; a preview does not
std::shared_ptr<const Trace> traceWithSource(std::uint64_t source, int kernels = 1, bool whole = true)
{
    TraceBuilder builder;
    Track stream;
    stream.kind = TrackKind::Stream;
    stream.name = "stream 7";
    const TrackId track = builder.addTrack(stream);
    RawSlice kernel;
    kernel.begin = 1000;
    kernel.duration = 500;
    kernel.kind = ActivityKind::Kernel;
    kernel.name = builder.intern("gemm").value;
    kernel.setSource(source);
    for (int i = 0; i < kernels; ++i, kernel.begin += 500)
        builder.addMany(track, {kernel}, Depth::Inferred);
    kernel.begin = 5'000'000'000; // the end is far from all ranges
    builder.addMany(track, {kernel}, Depth::Inferred);
    if (whole)
        builder.setArgSource(std::make_shared<OneSliceFile>());
    return builder.finish();
}

struct Panel {
    explicit Panel(std::shared_ptr<const Trace> shown) : trace(std::move(shown))
    {
        panel.resize(900, 300);
        panel.setTrace(trace);
        panel.show();
    }
    void select(std::string_view name)
    {
        for (const Track& track : trace->tracks())
            for (const Slice& slice : trace->sorted(track.id))
                if (trace->name(slice) == name) {
                    selection.selectSlice(slice.id);
                    return;
                }
        qFatal("there is no such slice");
    }
    /// All texts of the panel, one line per label or link.
    [[nodiscard]] QString said() const
    {
        QStringList lines;
        for (const QLabel* label : panel.findChildren<QLabel*>())
            if (label->isVisible())
                lines << label->text();
        for (const QPushButton* button : panel.findChildren<QPushButton*>())
            if (button->isVisible())
                lines << button->accessibleName();
        return lines.join('\n');
    }

    std::shared_ptr<const Trace> trace;
    Selection selection;
    SelectionPanel panel{&selection};
};

constexpr auto kTraining = R"(
    main
      step 3 0 100
      op aten::linear 10 40 seq=7
      op aten::mm 15 10
      call cudaLaunchKernel 17 4 corr=1
      op LinearBackward 60 10 seq=7 backward
    stream 0 7
      kernel gemm 20 30 corr=1
)";

} // namespace

class SelectionPanelTest : public QObject {
    Q_OBJECT
private slots:
    void itReadsAllArgumentsFromTheFile();
    void itShowsTheLaunchOfAKernel();
    void itReportsWhyTheyCannotBeRead();
    void argumentsAreReadAgainForTheCompleteTrace();
    void aRangeIsSummarizedAgainForTheCompleteTrace();
    void itShowsTheSelfTimeAndTheStep();
    void itComparesASliceWithTheOthersOfItsName();
    void itShowsTheDeviceTimeAndTheCallStack();
    void aPythonFunctionOpensTheEditor();
    void linksJump();
    void linksAreLegibleAfterAChangeOfTheme();
};

void SelectionPanelTest::itReadsAllArgumentsFromTheFile()
{
    Panel shown(traceWithSource(100));
    shown.select("gemm");
    QTRY_VERIFY2(shown.said().contains("[128, 1, 1]"), qPrintable(shown.said()));
    QVERIFY(shown.said().contains("est. achieved occupancy %"));
    QVERIFY(shown.said().contains("500 ns"));
    QVERIFY2(!shown.said().contains("1621401187223005"), "details that are shown better elsewhere are not repeated");
    QVERIFY2(!shown.said().contains("8801"), "the process is not repeated either");
    QVERIFY2(shown.said().contains("mine"), "an argument with the name of a field belongs to the user");
    QCOMPARE(shown.said().count("gemm"), 1);
}

void SelectionPanelTest::itShowsTheLaunchOfAKernel()
{
    constexpr auto kKernels = R"(
        device 0 H100 GPU-1 sm=90 sms=132
        device 1 "Unknown GPU" GPU-2
        stream 0 7
          kernel gemm 0 30 grid=264,2,1 block=128,2,1 registers=128 shared=49152 dynamic=48128 local=16
          kernel whole 40 30 grid=132,8,1 block=256,1,1 registers=32 shared=0
          kernel bare 80 1
        stream 1 7
          kernel unknown_gpu 0 30 grid=1,1,1 block=256,1,1 registers=128 shared=0
    )";
    Panel shown(test_support::traceFromText(kKernels));
    shown.select("gemm");
    for (const char* text : {"(264, 2, 1) · 528 blocks", "(128, 2, 1) · 256 threads", "128 per thread",
                             "25.0 % theoretical (16 of 64 warps), limited by registers"})
        QVERIFY2(shown.said().contains(QString::fromUtf8(text)), qPrintable(shown.said()));
    QVERIFY2(shown.said().contains("Waves"), qPrintable(shown.said()));
    shown.select("whole");
    QVERIFY2(shown.said().contains("100 % theoretical (64 of 64 warps)"), qPrintable(shown.said()));
    QVERIFY2(!shown.said().contains("limited by"), qPrintable(shown.said()));
    shown.select("unknown_gpu");
    QVERIFY2(shown.said().contains("Registers") && !shown.said().contains("Occupancy"), qPrintable(shown.said()));
    shown.select("bare");
    QVERIFY2(!shown.said().contains("Grid") && !shown.said().contains("Occupancy"), qPrintable(shown.said()));
}

void SelectionPanelTest::itReportsWhyTheyCannotBeRead()
{
    Panel shown(traceWithSource(200));
    shown.select("gemm");
    QTRY_VERIFY2(shown.said().contains("trace.json, byte 200"), qPrintable(shown.said()));
    QVERIFY(shown.said().contains("500 ns")); // existing details stay
}

void SelectionPanelTest::argumentsAreReadAgainForTheCompleteTrace()
{
    Panel shown(traceWithSource(100, 1, false));
    shown.select("gemm");
    shown.panel.setTrace(traceWithSource(100));
    QTRY_VERIFY2(shown.said().contains("[128, 1, 1]"), qPrintable(shown.said()));
}

void SelectionPanelTest::aRangeIsSummarizedAgainForTheCompleteTrace()
{
    Panel shown(traceWithSource(100, 1, false));
    shown.selection.selectRange({TraceTime(Nanoseconds(1000)), TraceTime(Nanoseconds(3000))});
    QTRY_VERIFY2(shown.said().contains("1 slice "), qPrintable(shown.said()));
    shown.panel.setTrace(traceWithSource(100, 3));
    QTRY_VERIFY2(shown.said().contains("3 slices "), qPrintable(shown.said()));
}

void SelectionPanelTest::itShowsTheSelfTimeAndTheStep()
{
    Panel shown(test_support::traceFromText(kTraining));
    const auto steps = std::make_shared<const std::vector<analysis::Step>>(analysis::findSteps(*shown.trace));
    shown.panel.setSteps(steps);
    shown.select("aten::linear");
    QTRY_VERIFY2(shown.said().contains("Self time\n30.0 µs"), qPrintable(shown.said()));
    QVERIFY2(shown.said().contains("Step 3"), qPrintable(shown.said()));
}

void SelectionPanelTest::itComparesASliceWithTheOthersOfItsName()
{
    Panel shown(test_support::traceFromText(R"(
        stream 0 7
          kernel gemm 0 30
          kernel add 40 1
          kernel gemm 50 10
        stream 0 8
          kernel gemm 60 20
    )"));
    shown.select("add");
    QTest::qWait(50);
    QVERIFY2(!shown.panel.findChild<QWidget*>("occurrences"), "it is the only one of its name");
    shown.select("gemm");
    QTRY_VERIFY(shown.panel.findChild<QWidget*>("occurrences"));
    for (const char* said :
         {"3, 60.0 µs in total", "Shortest 10.0 µs", "Longest 30.0 µs", "longer than 66.7 % of them", "Next 10.0 µs"})
        QVERIFY2(shown.said().contains(QString::fromUtf8(said)), qPrintable(shown.said()));
    QVERIFY2(!shown.said().contains("Previous"), "it is the first");
    const auto next = [&] {
        for (QPushButton* button : shown.panel.findChildren<QPushButton*>())
            if (button->accessibleName().startsWith("Next"))
                return button->click();
        qFatal("there is no next one");
    };
    next();
    QTRY_VERIFY2(shown.said().contains("none is shorter"), qPrintable(shown.said()));
    next();
    QTRY_VERIFY2(shown.said().contains("longer than 33.3 % of them"), qPrintable(shown.said()));
    QVERIFY2(!shown.said().contains("Next"), "it is the last");
}

void SelectionPanelTest::itShowsTheDeviceTimeAndTheCallStack()
{
    Panel shown(test_support::traceFromText(kTraining));
    shown.select("aten::linear");
    QTRY_VERIFY2(shown.said().contains("Device time 30.0 µs in 1 launch"), qPrintable(shown.said()));
    shown.select("gemm");
    for (const char* frame : {"1 cudaLaunchKernel", "2 aten::mm", "3 aten::linear", "4 "})
        QVERIFY2(shown.said().contains(frame), qPrintable(shown.said()));
}

void SelectionPanelTest::aPythonFunctionOpensTheEditor()
{
    const QTemporaryDir folder;
    QFile script(folder.filePath("train.py"));
    QVERIFY(script.open(QIODevice::WriteOnly) && QDir(folder.path()).mkdir("log"));
    script.close();
    Panel shown(test_support::traceFromText(R"(
        main
          other "train.py(7): main" 0 100
          other "torch/nn/modules/linear.py(114): forward" 5 80
          op aten::linear 10 40
          call cudaLaunchKernel 17 4 corr=1
          other "gone.py(3): helper" 90 5
        stream 0 7
          kernel gemm 20 30 corr=1
    )"));
    shown.panel.setTrace(shown.trace, folder.filePath("log/trace.json").toStdString());
    QSignalSpy requested(&shown.selection, &Selection::editorRequested);
    int opened = 0;
    for (const char* name : {"train.py(7): main", "aten::linear", "gemm"}) {
        shown.select(name);
        const auto buttons = shown.panel.findChildren<QPushButton*>("link");
        const auto link = std::find_if(buttons.begin(), buttons.end(), [](const QPushButton* button) {
            return button->accessibleName() == "Python function main · train.py:7";
        });
        QVERIFY2(link != buttons.end(), name);
        QTest::mouseClick(*link, Qt::LeftButton);
        ++opened;
        QTRY_COMPARE(requested.count(), opened);
        QCOMPARE(requested.back()[0].toString(), folder.filePath("train.py"));
        QCOMPARE(requested.back()[1].toInt(), 7);
    }
    for (const char* name : {"gone.py(3): helper", "torch/nn/modules/linear.py(114): forward"}) {
        shown.select(name);
        QVERIFY2(shown.said().contains("not on this machine"), name);
    }
}

void SelectionPanelTest::linksJump()
{
    Panel shown(test_support::traceFromText(kTraining));
    const auto follow = [&](const QString& link) {
        for (QPushButton* button : shown.panel.findChildren<QPushButton*>())
            if (button->accessibleName().startsWith(link)) {
                button->click();
                return;
            }
        qFatal("there is no link %s in\n%s", qPrintable(link), qPrintable(shown.said()));
    };
    const auto title = [&] { return shown.panel.findChild<QLabel*>("sliceTitle")->text(); };
    shown.select("gemm");
    follow("Launched by");
    QTRY_COMPARE(title(), QString("cudaLaunchKernel"));
    follow("Launches");
    QTRY_COMPARE(title(), QString("gemm"));
    shown.select("LinearBackward");
    follow("Backward of");
    QTRY_COMPARE(title(), QString("aten::linear"));
    follow("Forward of");
    QTRY_COMPARE(title(), QString("LinearBackward"));
}

void SelectionPanelTest::linksAreLegibleAfterAChangeOfTheme()
{
    Panel shown(test_support::traceFromText(kTraining));
    // The lightest and the darkest painted colour: text and background.
    const auto lightness = [&] {
        const QImage picture = shown.panel.findChild<QPushButton*>("link")->grab().toImage();
        std::pair span(255, 0);
        for (int y = 0; y < picture.height(); ++y)
            for (int x = 0; x < picture.width(); ++x) {
                const int here = picture.pixelColor(x, y).lightness();
                span = {std::min(span.first, here), std::max(span.second, here)};
            }
        return span;
    };
    for (const bool dark : {false, true, false}) {
        QApplication::setPalette(app::themePalette(dark));
        if (!shown.panel.findChild<QPushButton*>("link"))
            shown.select("gemm");
        QTRY_VERIFY(shown.panel.findChild<QPushButton*>("link"));
        QTRY_VERIFY2(lightness().second - lightness().first > 100, dark ? "dark" : "light");
    }
}

QTEST_MAIN(SelectionPanelTest)
#include "selection_panel_test.moc"
