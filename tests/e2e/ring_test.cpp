#include "app/findings/finding_card.h"
#include "app/timeline/timeline_canvas.h"
#include "app/window/main_window.h"

#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QToolBar>
#include <QToolButton>

// The whole workflow by mouse and keyboard, in the real window with the real trainer: configure, train, inspect,
// measure, keep, undo.
namespace {

constexpr int kTrainingMs = 90'000;
constexpr int kMeasuringMs = 180'000;

std::unique_ptr<QTemporaryDir> folders;

/// A naive configuration that is small enough for a minute: decoding takes most of a step.
constexpr auto kConfiguration = R"({
  "workload": "convnet", "model": {"width": 8},
  "dataset": {"kind": "generated_images", "samples": 400, "classes": 4, "source_size": 384, "image_size": 32},
  "batch": {"size": 16}, "run": {"steps": 500, "threads": 1}, "loader": {"workers": 0}
})";

void click(QWidget* widget)
{
    for (QWidget* parent = widget->parentWidget(); parent; parent = parent->parentWidget())
        if (auto* scroll = qobject_cast<QScrollArea*>(parent))
            scroll->ensureWidgetVisible(widget);
    QTest::qWait(50);
    QTest::mouseClick(widget, Qt::LeftButton);
}

} // namespace

class RingTest : public QObject {
    Q_OBJECT
public:
    static void initMain()
    {
        folders = std::make_unique<QTemporaryDir>();
        for (const char* name : {"XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"})
            qputenv(name, folders->filePath(name).toUtf8());
    }

private slots:
    void initTestCase();
    void typingTheStepsIntoTheForm();
    void startTrainsAndTheFindingAppears();
    void showNavigatesToTheEvidence();
    void applyMeasuresAndGivesAVerdict();
    void keepAppliesItAndUndoRevertsIt();
    void cleanupTestCase();

private:
    QWidget* inCard(const char* name) const
    {
        auto* card = m_window->findChild<app::FindingCard*>("card:loader.workers");
        auto* found = card ? card->findChild<QWidget*>(name) : nullptr;
        return found && found->isVisible() ? found : nullptr;
    }
    std::string workers() const { return m_bench->configuration.get().text("loader.workers"); }

    std::unique_ptr<app::Appearance> m_appearance;
    std::unique_ptr<app::Workbench> m_bench;
    std::unique_ptr<app::MainWindow> m_window;
};

void RingTest::initTestCase()
{
    m_appearance = std::make_unique<app::Appearance>();
    m_bench = std::make_unique<app::Workbench>();
    m_window = std::make_unique<app::MainWindow>(m_bench.get(), m_appearance.get());
    m_window->resize(1366, 768); // a narrower one shows the panels of only one side
    m_window->show();
    QTRY_VERIFY(m_window->isComplete());
    QFile file(folders->filePath("naive.json"));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(kConfiguration);
    file.close();
    m_bench->configuration.load(file.fileName().toStdString());
    QCOMPARE(m_bench->configuration.get().text("model.width"), "8");
}

void RingTest::typingTheStepsIntoTheForm()
{
    auto* row = m_window->findChild<QWidget*>("knob:run.steps");
    QVERIFY(row);
    auto* field = row->findChild<QLineEdit*>();
    click(field);
    field->selectAll();
    QTest::keyClicks(field, "200");
    QTest::keyClick(field, Qt::Key_Return);
    QCOMPARE(m_bench->configuration.get().text("run.steps"), "200");
}

void RingTest::startTrainsAndTheFindingAppears()
{
    auto* bar = m_window->findChild<QToolBar*>("toolBar");
    auto* start = bar->widgetForAction(m_window->findChild<QAction*>("start"));
    click(start);
    QCOMPARE(m_bench->training.state(), app::RunState::Starting);
    QTRY_VERIFY_WITH_TIMEOUT(m_bench->training.stepHistory().size() > 5, kTrainingMs);
    QTRY_VERIFY_WITH_TIMEOUT(inCard("show"), kTrainingMs); // while it runs
    QTRY_COMPARE_WITH_TIMEOUT(m_bench->training.state(), app::RunState::Idle, kTrainingMs);
    QCOMPARE(m_bench->runs.all().front().outcome.state, QString("finished"));
    QCOMPARE(m_bench->runs.all().front().outcome.steps, 200);
    QTRY_VERIFY_WITH_TIMEOUT(m_bench->document.analysed()->trace == m_bench->document.trace(), 20'000);
    QVERIFY(m_bench->document.analysed()->facts.input.waitShare > 0.2);
}

void RingTest::showNavigatesToTheEvidence()
{
    auto* timeline = m_window->findChild<app::TimelineCanvas*>();
    QVERIFY(timeline);
    const auto before = timeline->scene().axis.visible();
    QTRY_VERIFY(inCard("show"));
    click(inCard("show"));
    QVERIFY(m_bench->document.selection()->slice().has_value());
    const auto wait = m_bench->document.trace()->slice(*m_bench->document.selection()->slice());
    QCOMPARE(m_bench->document.trace()->name(wait), profiler::phase::kDataWait);
    QTRY_VERIFY(!(timeline->scene().axis.visible() == before));
    const auto visible = timeline->scene().axis.visible();
    QVERIFY(visible.begin <= wait.begin && wait.end() <= visible.end);
    QVERIFY(visible.duration() < before.duration());
}

void RingTest::applyMeasuresAndGivesAVerdict()
{
    QTRY_VERIFY(inCard("apply") && inCard("apply")->isEnabled());
    click(inCard("apply"));
    QVERIFY(m_bench->experiments.isRunning());
    QTRY_VERIFY(inCard("stopMeasuring"));
    QSignalSpy failed(&m_bench->experiments, &app::ExperimentService::failed);
    QTRY_VERIFY_WITH_TIMEOUT(!m_bench->experiments.isRunning(), kMeasuringMs);
    QVERIFY2(failed.isEmpty(), failed.isEmpty() ? "" : qPrintable(failed.at(0).at(1).toString()));
    QTRY_VERIFY(inCard("verdict"));
    const QString verdict = static_cast<QLabel*>(inCard("verdict"))->text();
    QVERIFY2(verdict.contains("95 % interval"), qPrintable(verdict));
    qInfo("%s (%.0f s)", qPrintable(verdict), m_bench->journal.result("loader.workers")->secondsSpent);
    QCOMPARE(workers(), "0"); // nothing changes before it is kept
}

void RingTest::keepAppliesItAndUndoRevertsIt()
{
    const auto toggle = m_bench->journal.result("loader.workers")->plan.changes.front();
    QVERIFY(inCard("keep"));
    click(inCard("keep"));
    QCOMPARE(workers(), toggle.to);
    QCOMPARE(m_bench->journal.shown().changes.size(), std::size_t{1});
    QTRY_VERIFY(inCard("undo"));
    click(inCard("undo"));
    QCOMPARE(workers(), "0");
    QVERIFY(m_bench->journal.shown().changes.empty());
    QTest::keyClick(m_window.get(), Qt::Key_Z, Qt::ControlModifier); // redo
    QCOMPARE(workers(), toggle.to);
    QTest::keyClick(m_window.get(), Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
    QCOMPARE(workers(), "0");
}

void RingTest::cleanupTestCase()
{
    m_window.reset();
    m_bench.reset();
    m_appearance.reset();
}

QTEST_MAIN(RingTest)
#include "ring_test.moc"
