#include "app/window/main_window.h"

#include "app/document/analyser.h"
#include "app/findings/finding_card.h"
#include "app/timeline/timeline_canvas.h"
#include "app/timeline_tools/timeline_bookmarks.h"
#include "app/window/window_strips.h"
#include "tests/app/app_support.h"
#include "tests/app/app_window.h"

#include <QAction>
#include <QDockWidget>
#include <QHeaderView>
#include <QLabel>
#include <QMenu>
#include <QMenuBar>
#include <QMessageBox>
#include <QMimeData>
#include <QPushButton>
#include <QSettings>
#include <QSignalSpy>
#include <QStackedWidget>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>
#include <QTreeView>

using app::RunState;
using app_test::App;
using app_test::find;
using app_test::shortTraining;
using app_test::useScript;

namespace {

constexpr int kPatienceMs = 20'000;

std::unique_ptr<app_test::OwnFolders> folders;

QAction* action(const app::MainWindow& window, const char* name)
{
    return find<QAction>(&window, name);
}

/// Acts on the next dialog when it appears.
void clickInMessageBox(QMessageBox::ButtonRole role, bool* seen)
{
    auto* look = new QTimer(qApp);
    QObject::connect(look, &QTimer::timeout, look, [role, seen, look] {
        auto* box = qobject_cast<QMessageBox*>(QApplication::activeModalWidget());
        if (!box)
            return;
        *seen = true;
        delete look;
        for (QAbstractButton* button : box->buttons())
            if (box->buttonRole(button) == role) {
                button->click();
                return;
            }
    });
    look->start(20);
}

/// Runs a training and waits for the analysis of the complete trace, because earlier verdicts may change.
void trainAndAdvise(App& app)
{
    app.bench.training.start();
    const auto settled = [&] {
        return !app.bench.training.isOpen() && app.bench.document.analysed() &&
               app.bench.document.analysed()->trace == app.bench.document.trace() && app.bench.document.advice() &&
               !app.bench.document.advice()->live;
    };
    if (!QTest::qWaitFor(settled, 60'000))
        qFatal("the training was not analysed in time");
}

} // namespace

class MainWindowTest : public QObject {
    Q_OBJECT
public:
    static void initMain() { folders = std::make_unique<app_test::OwnFolders>(); }

private slots:
    void init();
    void theShellPaintsBeforeTheDocksAreMade();
    void itOpensWithEveryView();
    void theStartPageStartsTheExampleTraining();
    void everyMenuActionHasAKeyOrIsRare();
    void actionsFollowTheRun();
    void theQuestionForACopyNamesTheFolderAndTheReason();
    void theStatusLineShowsTheProgress();
    void aCrashIsShownInTheStrip();
    void droppingATraceOpensIt();
    void findingsBecomeCards();
    void showSelectsTheEvidence();
    void bothThemesAreApplied();
    void layoutAndThemeAreRestored();
    void closingDuringARunAsksOnce();
    void bookmarksOfARunAreKeptWhenTheWindowCloses();
    void noTwoActionsShareAShortcut();
    void anAnswerReplacesAnOldError();
    void theStopActionStopsTheMeasurement();
};

void MainWindowTest::init()
{
    useScript("train");
    QSettings().clear();
}

void MainWindowTest::theShellPaintsBeforeTheDocksAreMade()
{
    app::Appearance appearance;
    app::Workbench bench;
    app::MainWindow window(&bench, &appearance);
    const QSize room = window.screen()->availableGeometry().size();
    QCOMPARE(window.size().boundedTo(room), window.size());
    QSignalSpy painted(&window, &app::MainWindow::firstPainted);
    bool docksThen = true;
    connect(&window, &app::MainWindow::firstPainted, &window,
            [&] { docksThen = !window.findChildren<QDockWidget*>().isEmpty(); });
    window.show();
    QVERIFY(painted.wait());
    QVERIFY(!docksThen);
    QTRY_VERIFY_WITH_TIMEOUT(window.isComplete(), kPatienceMs);
    QVERIFY(!window.findChildren<QDockWidget*>().isEmpty());
}

void MainWindowTest::itOpensWithEveryView()
{
    App app;
    for (const char* name : {"dock:run", "dock:runsList", "dock:advisor"})
        QVERIFY2(app.window.findChild<QDockWidget*>(name), name);
    QVERIFY(find<QPushButton>(&app.window, "tryIt")->isVisible());
    // Column widths are not computed from all of thousands of runs on every change.
    QVERIFY(find<QTreeView>(&app.window, "runsList")->header()->resizeContentsPrecision() <= 100);
}

void MainWindowTest::theStartPageStartsTheExampleTraining()
{
    App app;
    QTest::mouseClick(find<QPushButton>(&app.window, "tryIt"), Qt::LeftButton);
    QCOMPARE(app.bench.training.state(), RunState::Starting);
    QVERIFY(!find<QPushButton>(&app.window, "tryIt")->isVisible());
    QVERIFY(find<QDockWidget>(&app.window, "dock:advisor")->isVisible());
    QTRY_COMPARE_WITH_TIMEOUT(app.bench.training.state(), RunState::Running, kPatienceMs);
    app.bench.training.stop();
    QTRY_COMPARE_WITH_TIMEOUT(app.bench.training.state(), RunState::Idle, kPatienceMs);
}

void MainWindowTest::everyMenuActionHasAKeyOrIsRare()
{
    App app;
    for (const char* name : {"start", "pause", "stop", "undo", "redo", "openTrace", "openConfiguration",
                             "saveConfiguration", "home", "quit", "findKnob"})
        QVERIFY2(!action(app.window, name)->shortcut().isEmpty(), name);
}

void MainWindowTest::theQuestionForACopyNamesTheFolderAndTheReason()
{
    App app;
    emit app.bench.trust.copyAsked("/home/me/<b>prog %2", "Operation not permitted");
    const auto* box = find<QMessageBox>(&app.window, "copyQuestion");
    QVERIFY(box->isVisible());
    QVERIFY(box->informativeText().contains("/home/me/<b>prog %2"));
    QVERIFY(box->informativeText().contains("Operation not permitted"));
    QCOMPARE(box->textFormat(), Qt::PlainText);
    QVERIFY(box->buttonRole(box->defaultButton()) == QMessageBox::RejectRole); // Enter copies nothing
    box->defaultButton()->click();
    QTRY_VERIFY(!app.window.findChild<QMessageBox*>("copyQuestion"));
}

void MainWindowTest::actionsFollowTheRun()
{
    App app;
    app.bench.configuration.set(shortTraining(100000), "long");
    QVERIFY(action(app.window, "start")->isEnabled());
    QVERIFY(!action(app.window, "stop")->isEnabled());
    QTest::keyClick(&app.window, Qt::Key_F5);
    QTRY_COMPARE_WITH_TIMEOUT(app.bench.training.state(), RunState::Running, kPatienceMs);
    QVERIFY(!action(app.window, "start")->isEnabled());
    QVERIFY(action(app.window, "stop")->isEnabled());
    QTest::keyClick(&app.window, Qt::Key_F6);
    QCOMPARE(app.bench.training.state(), RunState::Paused);
    QTest::keyClick(&app.window, Qt::Key_F6);
    QCOMPARE(app.bench.training.state(), RunState::Running);
    QTest::keyClick(&app.window, Qt::Key_F5, Qt::ShiftModifier);
    QTRY_COMPARE_WITH_TIMEOUT(app.bench.training.state(), RunState::Idle, kPatienceMs);
    QVERIFY(action(app.window, "start")->isEnabled());
}

void MainWindowTest::theStatusLineShowsTheProgress()
{
    App app;
    app.bench.configuration.set(shortTraining(100000), "long");
    app.bench.training.start();
    auto* status = app.window.findChild<app::StatusLine*>();
    QTRY_VERIFY2(status->text().contains(
                     QRegularExpression("training.*step [0-9]+ of 100,000.*samples/s.*loss.*0 events dropped")),
                 qPrintable(status->text()));
    app.bench.training.stop();
    QTRY_COMPARE_WITH_TIMEOUT(app.bench.training.state(), RunState::Idle, kPatienceMs);
    QVERIFY(status->text().startsWith("ready"));
}

void MainWindowTest::aCrashIsShownInTheStrip()
{
    useScript("crash");
    App app;
    app.bench.configuration.set(shortTraining(), "short");
    app.bench.training.start();
    auto* strip = app.window.findChild<app::NoticeStrip*>();
    QTRY_VERIFY_WITH_TIMEOUT(strip->isVisible(), kPatienceMs);
    QTRY_COMPARE_WITH_TIMEOUT(app.bench.training.state(), RunState::Idle, kPatienceMs);
    QVERIFY2(strip->detail().contains("the tensors have no shape"), qPrintable(strip->detail()));
    auto* details = strip->findChild<QWidget*>("noticeMore");
    QTest::mouseClick(details, Qt::LeftButton);
    QTest::mouseClick(find<QWidget>(strip, "noticeClose"), Qt::LeftButton);
    QVERIFY(!strip->isVisible());
}

void MainWindowTest::droppingATraceOpensIt()
{
    App app;
    app.bench.configuration.set(shortTraining(), "short");
    app.bench.training.start();
    QTRY_COMPARE_WITH_TIMEOUT(app.bench.training.state(), RunState::Idle, kPatienceMs);
    const QString file = QString::fromStdString(app.bench.runs.all().front().trace().string());
    QSignalSpy replaced(&app.bench.document, &app::TraceDocument::traceReplaced);
    QMimeData data;
    data.setUrls({QUrl::fromLocalFile(file)});
    QDragEnterEvent enter(QPoint(400, 300), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(&app.window, &enter);
    QVERIFY(enter.isAccepted());
    QDropEvent drop(QPointF(400, 300), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(&app.window, &drop);
    QTRY_VERIFY_WITH_TIMEOUT(app.window.findChild<QMenu*>("howToOpen"), kPatienceMs);
    find<QAction>(app.window.findChild<QMenu*>("howToOpen"), "openInstead")->trigger();
    QTRY_COMPARE_WITH_TIMEOUT(replaced.count(), 1, kPatienceMs);
    QVERIFY(app.bench.document.trace()->sliceCount() > 0);
}

void MainWindowTest::findingsBecomeCards()
{
    App app;
    app.bench.configuration.set(shortTraining(60), "short");
    trainAndAdvise(app);
    QTRY_VERIFY_WITH_TIMEOUT(app.window.findChild<app::FindingCard*>("card:loader.workers"), kPatienceMs);
    auto* card = find<app::FindingCard>(&app.window, "card:loader.workers");
    QTRY_VERIFY_WITH_TIMEOUT(find<QPushButton>(card, "apply")->isEnabled(), kPatienceMs);
    // The first steps may not give a prediction; on a busy machine with varying steps, it stays an upper bound.
    const auto predicts = [card] {
        const QString saving = find<QLabel>(card, "saving")->text();
        return saving.startsWith("Could save ") || saving.startsWith("At most ");
    };
    QTRY_VERIFY2_WITH_TIMEOUT(predicts(), qPrintable(find<QLabel>(card, "saving")->text()), 20000);
    QVERIFY2(find<QLabel>(card, "note")->text().contains("Measuring takes"),
             qPrintable(find<QLabel>(card, "note")->text()));
    QVERIFY(!find<QPushButton>(card, "stopAndApply")->isVisible());
    // The tip expands to its text and code.
    QTest::mouseClick(find<QWidget>(card, "why"), Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(card->findChild<QTabWidget*>() && card->findChild<QTabWidget*>()->isVisible(),
                             kPatienceMs);
    // A training at the same time would skew a measurement: the card offers to stop it.
    app.bench.configuration.set(shortTraining(100000), "long");
    app.bench.training.start();
    QTRY_VERIFY_WITH_TIMEOUT(app.bench.training.state() == RunState::Running, kPatienceMs);
    QTRY_VERIFY_WITH_TIMEOUT(app.window.findChild<QPushButton*>("stopAndApply"), kPatienceMs);
    app.bench.training.stop();
    QTRY_COMPARE_WITH_TIMEOUT(app.bench.training.state(), RunState::Idle, kPatienceMs);
}

void MainWindowTest::showSelectsTheEvidence()
{
    App app;
    app.bench.configuration.set(shortTraining(60), "short");
    trainAndAdvise(app);
    QTRY_VERIFY_WITH_TIMEOUT(app.window.findChild<app::FindingCard*>("card:loader.workers"), kPatienceMs);
    // The evidence of the rule is updated with the complete trace.
    QTRY_VERIFY_WITH_TIMEOUT(
        app.bench.document.analysed() && app.bench.document.analysed()->trace == app.bench.document.trace(), 20000);
    auto* card = find<app::FindingCard>(&app.window, "card:loader.workers");
    QSignalSpy shown(app.bench.document.selection(), &app::Selection::showRequested);
    QTest::mouseClick(find<QPushButton>(card, "show"), Qt::LeftButton);
    QCOMPARE(shown.count(), 1);
    QVERIFY(app.bench.document.selection()->slice().has_value());
    const auto trace = app.bench.document.trace();
    const auto first = *app.bench.document.selection()->slice();
    QCOMPARE(trace->name(trace->slice(first)), profiler::phase::kDataWait);
    QTest::mouseClick(find<QPushButton>(card, "show"), Qt::LeftButton);
    QVERIFY(*app.bench.document.selection()->slice() != first);
}

void MainWindowTest::bothThemesAreApplied()
{
    App app;
    action(app.window, "themeDark")->trigger();
    QVERIFY(app::isDark(QApplication::palette()));
    QCoreApplication::processEvents(); // the palette change is posted to the widgets
    const QImage dark = app.window.grab().toImage();
    action(app.window, "themeLight")->trigger();
    QVERIFY(!app::isDark(QApplication::palette()));
    QCoreApplication::processEvents();
    const QImage light = app.window.grab().toImage();
    // The background of the start page at a place without text.
    const QPoint ground(app.window.width() - 40, app.window.height() - 80);
    QVERIFY(dark.pixelColor(ground).lightness() < 60);
    QVERIFY(light.pixelColor(ground).lightness() > 200);
}

void MainWindowTest::layoutAndThemeAreRestored()
{
    {
        App app;
        action(app.window, "themeDark")->trigger();
        find<QDockWidget>(&app.window, "dock:runsList")->hide();
        app.window.close();
    }
    App app;
    QCOMPARE(app.appearance.theme(), app::Theme::Dark);
    QVERIFY(!find<QDockWidget>(&app.window, "dock:runsList")->isVisible());
    // The widgets hidden by the start page are restored.
    QVERIFY(!find<QDockWidget>(&app.window, "dock:advisor")->isVisible());
    app.bench.configuration.set(shortTraining(), "short");
    app.bench.training.start();
    QVERIFY(find<QDockWidget>(&app.window, "dock:advisor")->isVisible());
    QTRY_COMPARE_WITH_TIMEOUT(app.bench.training.state(), RunState::Idle, kPatienceMs);
}

void MainWindowTest::closingDuringARunAsksOnce()
{
    App app;
    app.bench.configuration.set(shortTraining(100000), "long");
    app.bench.training.start();
    QTRY_COMPARE_WITH_TIMEOUT(app.bench.training.state(), RunState::Running, kPatienceMs);
    bool asked = false;
    clickInMessageBox(QMessageBox::RejectRole, &asked);
    QVERIFY(!app.window.close());
    QVERIFY(asked);
    QCOMPARE(app.bench.training.state(), RunState::Running);
    clickInMessageBox(QMessageBox::AcceptRole, &asked);
    app.window.close();
    QVERIFY(asked);
    QTRY_VERIFY_WITH_TIMEOUT(!app.window.isVisible(), kPatienceMs);
    QCOMPARE(app.bench.training.state(), RunState::Idle);
    QCOMPARE(app.bench.runs.all().front().outcome.state, QString("stopped"));
}

void MainWindowTest::bookmarksOfARunAreKeptWhenTheWindowCloses()
{
    App app;
    app.bench.configuration.set(shortTraining(100000), "long");
    app.bench.training.start();
    QTRY_VERIFY_WITH_TIMEOUT(app.bench.document.trace()->sliceCount() > 100, 20000);
    auto* canvas = app.window.findChild<app::TimelineCanvas*>();
    QVERIFY(canvas);
    canvas->setBookmark(app.bench.document.trace()->range().begin, "here");
    bool asked = false;
    clickInMessageBox(QMessageBox::AcceptRole, &asked);
    app.window.close();
    QVERIFY(asked);
    QTRY_VERIFY_WITH_TIMEOUT(!app.window.isVisible(), 20000);
    const auto kept = app::BookmarkStore::standard().load(app.bench.runs.all().front().trace());
    QVERIFY(kept && kept->size() == 1);
    QCOMPARE(kept->front().note, QString("here"));
}

void MainWindowTest::noTwoActionsShareAShortcut()
{
    App app;
    // Shortcuts of the window, and those of each view, which include the window's.
    std::map<const QWidget*, std::map<QString, QStringList>> heard;
    for (const QAction* action : app.window.findChildren<QAction*>()) {
        const bool own = action->shortcutContext() == Qt::WidgetShortcut ||
                         action->shortcutContext() == Qt::WidgetWithChildrenShortcut;
        // Actions without text represent those of a menu that has the shortcut.
        for (const QKeySequence& key : action->shortcuts())
            heard[own ? qobject_cast<QWidget*>(action->parent()) : nullptr][key.toString()] << action->text();
    }
    for (const QAction* menu : app.window.menuBar()->actions())
        if (const QKeySequence key = QKeySequence::mnemonic(menu->text()); !key.isEmpty())
            heard[nullptr][key.toString()] << menu->text();
    QVERIFY(heard.size() > 3);
    for (const auto& [view, keys] : heard)
        for (auto [key, actions] : keys) {
            if (view && heard[nullptr].contains(key))
                actions += heard[nullptr][key];
            QVERIFY2(actions.size() == 1, qPrintable(key + ": " + actions.join(", ")));
        }
}

void MainWindowTest::anAnswerReplacesAnOldError()
{
    App app;
    const QTemporaryDir folder;
    emit app.bench.notices.noticed("Something failed.", {}, true);
    auto* strip = app.window.findChild<app::NoticeStrip*>();
    emit app.bench.notices.noticed("By the way.", {}, false);
    QCOMPARE(strip->text(), QString("Something failed."));
    app.bench.reports.saveReport(folder.filePath("report.html").toStdString());
    QTRY_VERIFY_WITH_TIMEOUT(strip->isVisible() && strip->text().contains("Report saved"), 20000);
}

void MainWindowTest::theStopActionStopsTheMeasurement()
{
    App app;
    QVERIFY(!action(app.window, "stop")->isEnabled());
    advisor::RuleAdvice advice;
    advice.id = "loader.workers";
    advice.advice.toggle = advisor::Toggle{"loader.workers", "0", "2"};
    app.bench.experiments.start(advice);
    QVERIFY(action(app.window, "stop")->isEnabled());
    action(app.window, "stop")->trigger();
    QVERIFY(!action(app.window, "stop")->isEnabled());
    QTRY_VERIFY_WITH_TIMEOUT(action(app.window, "start")->isEnabled(), 20000);
    QVERIFY(!app.bench.jobs.isBusy());
}

QTEST_MAIN(MainWindowTest)
#include "main_window_test.moc"
