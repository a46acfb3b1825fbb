#include "app/views/steps/steps.h"
#include "profiler/formats/format.h"
#include "tests/app/app_support.h"
#include "tests/support/trace_text.h"

#include <QLabel>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>
#include <QToolButton>

using app_test::find;

namespace {

std::unique_ptr<app_test::OwnFolders> folders;

/// Eight even steps, then one that waits 1 ms for data.
constexpr std::string_view kTrace = R"(
    main
      repeat 8 every 1000
        step 0 0 1000
        phase "data wait" 0 100
        phase forward 100 900
      end
      step 8 8000 2000
      phase "data wait" 8000 1100
      phase forward 9100 900
      step 9 10000 1000
      phase "data wait" 10000 100
      phase forward 10100 900
)";

struct Shown {
    Shown() : view(bench.document.selection()), explanation(&bench.document, &view)
    {
        const std::filesystem::path path = folder.filePath("trace.sspack").toStdString();
        if (!profiler::formats::saveTrace(*test_support::traceFromText(kTrace), path, {}))
            qFatal("the trace cannot be written");
        bench.document.openTrace(path);
        if (!QTest::qWaitFor([&] { return bench.document.analysed() != nullptr; }, 10'000))
            qFatal("the trace was not opened");
        view.setTrace(bench.document.trace());
        view.showSteps(bench.document.analysed()->facts.steps);
        QObject::connect(&view, &app::StepsView::explanationWanted, &explanation, &app::StepExplanation::explain);
        view.resize(900, 150);
        view.show();
    }
    QTemporaryDir folder;
    app::Workbench bench;
    app::StepsView view;
    app::StepExplanation explanation;
};

} // namespace

class StepExplanationTest : public QObject {
    Q_OBJECT
public:
    static void initMain() { folders = std::make_unique<app_test::OwnFolders>(); }

private slots:
    void theButtonExplainsTheSlowestStepAndItsCausesMoveTheTimeline();
    void aFindingAsksForTheExplanation();
};

void StepExplanationTest::theButtonExplainsTheSlowestStepAndItsCausesMoveTheTimeline()
{
    Shown shown;
    auto* button = find<QToolButton>(&shown.view, "whyIsThisStepSlow");
    QVERIFY(button->isVisible());
    button->click();
    QTRY_VERIFY(shown.explanation.findChild<QLabel*>("stepCause") != nullptr);
    QVERIFY(find<QLabel>(&shown.explanation, "stepHeadline")->text().contains("2.00 ms"));
    QVERIFY(find<QLabel>(&shown.explanation, "stepCause")->text().contains("1.00 ms"));
    const QSignalSpy moved(shown.bench.document.selection(), &app::Selection::showRequested);
    shown.explanation.findChild<QPushButton*>()->click();
    QCOMPARE(moved.size(), 1);
    QCOMPARE(profiler::toNs(shown.bench.document.selection()->range()->begin), std::int64_t{8'000'000});
    QCOMPARE(profiler::toNs(shown.bench.document.selection()->range()->end), std::int64_t{9'100'000});
}

void StepExplanationTest::aFindingAsksForTheExplanation()
{
    Shown shown;
    const auto& steps = shown.bench.document.analysed()->facts.steps;
    shown.bench.document.selection()->explainStep(steps[3].slice);
    QTRY_VERIFY(shown.explanation.isVisible());
    QTRY_VERIFY(find<QLabel>(&shown.explanation, "stepHeadline")->text().contains("not longer"));
    QVERIFY(shown.explanation.findChild<QLabel*>("stepCause") == nullptr);
}

QTEST_MAIN(StepExplanationTest)
#include "step_explanation_test.moc"
