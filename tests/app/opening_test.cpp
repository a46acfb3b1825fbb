#include "app/document/trace_files.h"
#include "app/tables/table_panel.h"
#include "app/tables/table_view.h"
#include "app/window/main_window.h"
#include "app/window/window_strips.h"
#include "tests/app/app_support.h"
#include "tests/app/app_window.h"

#include <QDir>
#include <QDockWidget>
#include <QMenu>
#include <QMimeData>
#include <QPushButton>
#include <QSettings>
#include <QSignalSpy>
#include <QTabBar>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>
#include <algorithm>

using app::RunState;
using app_test::App;
using app_test::find;
using app_test::shortTraining;
using app_test::useScript;

namespace {

std::unique_ptr<app_test::OwnFolders> folders;

void drop(app::MainWindow& window, const QStringList& files)
{
    QMimeData data;
    QList<QUrl> urls;
    for (const QString& file : files)
        urls << QUrl::fromLocalFile(file);
    data.setUrls(urls);
    QDragEnterEvent enter(QPoint(400, 300), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(&window, &enter);
    QVERIFY(enter.isAccepted());
    QDropEvent dropped(QPointF(400, 300), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(&window, &dropped);
}

QString writeFile(const QTemporaryDir& folder, const QString& name, const QByteArray& content)
{
    QFile file(folder.filePath(name));
    if (!file.open(QIODevice::WriteOnly) || file.write(content) != content.size())
        qFatal("a test's file cannot be written");
    return file.fileName();
}

/// A trace of the app, moved to a folder that is not a run.
QString foreignTrace(App& app, const QTemporaryDir& folder)
{
    app.bench.configuration.set(shortTraining(), "short");
    app.bench.training.start();
    if (!QTest::qWaitFor([&] { return app.bench.training.state() == RunState::Idle; }, 20000))
        qFatal("the training never ended");
    const QString copy = folder.filePath("elsewhere.sstrace");
    if (!QFile::copy(QString::fromStdString(app.bench.runs.all().front().trace().string()), copy))
        qFatal("the trace cannot be copied");
    return copy;
}

/// The widgets that determine the minimum size of the window.
QString leastSizes(const QMainWindow& window)
{
    const auto line = [](const QString& name, QSize size) {
        return QString("%1 %2 × %3\n").arg(name).arg(size.width()).arg(size.height());
    };
    QString text = line("window", window.minimumSizeHint()) + line("centre", window.centralWidget()->minimumSizeHint());
    for (const auto* dock : window.findChildren<QDockWidget*>())
        text += line(dock->objectName(), dock->minimumSizeHint());
    return text;
}

} // namespace

class OpeningTest : public QObject {
    Q_OBJECT
public:
    static void initMain() { folders = std::make_unique<app_test::OwnFolders>(); }

private slots:
    void init()
    {
        useScript("train");
        QSettings().clear();
    }
    void severalDroppedFilesAreAJob();
    void aFileThatIsNotATraceIsReportedInTheStrip();
    void openedTracesAreRemembered();
    void theStartPageListsTracesAndSamples();
    void theSampleOfAJobIsAFolderOfItsTraces();
    void tryItWaitsWhileSomethingRuns();
    void aDroppedConfigurationIsLoaded();
    void everySubjectHasATable();
    void aTableRowMovesTheTimeline();
    void everyViewIsReachedByItsShortcut();
    void theWindowFitsALaptop();
};

void OpeningTest::severalDroppedFilesAreAJob()
{
    App app;
    const QTemporaryDir folder;
    const QString trace = foreignTrace(app, folder);
    const QString other = writeFile(folder, "other.sstrace", "no trace");
    QSignalSpy replaced(&app.bench.document, &app::TraceDocument::traceReplaced);
    drop(app.window, {trace, other});
    QTRY_COMPARE(replaced.count(), 1);
    QVERIFY(app.bench.job.isOpen());
    QCOMPARE(QString::fromStdString(app.bench.document.path().string()), trace);
    auto* strip = app.window.findChild<app::NoticeStrip*>();
    QTRY_VERIFY(strip->isVisible());
    QVERIFY2(strip->text().contains("other.sstrace"), qPrintable(strip->text()));
}

void OpeningTest::aFileThatIsNotATraceIsReportedInTheStrip()
{
    App app;
    const QTemporaryDir folder;
    drop(app.window, {writeFile(folder, "holiday.jpg", QByteArray("\xff\xd8\xff\xe0 a picture", 15))});
    auto* strip = app.window.findChild<app::NoticeStrip*>();
    QTRY_VERIFY(strip->isVisible());
    QVERIFY2(strip->text().startsWith("holiday.jpg cannot be opened: "), qPrintable(strip->text()));
    QVERIFY2(strip->detail().contains("holiday.jpg"), qPrintable(strip->detail()));
    // The next file clears the message.
    drop(app.window, {foreignTrace(app, folder)});
    QTRY_VERIFY(app.window.findChild<QMenu*>("howToOpen"));
    find<QAction>(app.window.findChild<QMenu*>("howToOpen"), "openInstead")->trigger();
    QTRY_VERIFY(!strip->isVisible());
}

void OpeningTest::openedTracesAreRemembered()
{
    App app;
    const QTemporaryDir folder;
    const QString trace = foreignTrace(app, folder);
    QVERIFY(app::recentTraces().isEmpty()); // runs are listed separately
    QSignalSpy opened(&app.bench.document, &app::TraceDocument::traceOpened);
    app.bench.document.openTrace(trace.toStdString());
    QTRY_COMPARE(opened.count(), 1);
    QCOMPARE(app::recentTraces(), QStringList{trace});
    auto* menu = find<QMenu>(&app.window, "recentTraces");
    emit qobject_cast<QMenu*>(menu->parentWidget())->aboutToShow();
    QCOMPARE(menu->actions().front()->text(), QString("elsewhere.sstrace"));
    menu->actions().front()->trigger();
    QTRY_COMPARE(opened.count(), 2);
    // Also from the start page, because it may have been recorded again.
    find<QAction>(&app.window, "home")->trigger();
    find<QWidget>(&app.window, "recentTraceList")->findChildren<QToolButton*>().front()->click();
    QTRY_COMPARE(opened.count(), 3);
}

void OpeningTest::theStartPageListsTracesAndSamples()
{
    const QTemporaryDir folder;
    app::addRecentTrace(writeFile(folder, "old.json", "{}"));
    app::addRecentTrace(folder.filePath("gone.json"));
    App app;
    const auto places = [&](const char* list) {
        return find<QWidget>(&app.window, list)->findChildren<QToolButton*>();
    };
    const auto recent = places("recentTraceList");
    QCOMPARE(recent.size(), 2);
    QVERIFY(recent[0]->text().contains("missing") && !recent[0]->isEnabled());
    QVERIFY2(recent[1]->text().contains("2 B"), qPrintable(recent[1]->text()));
    const auto samples = places("sampleTraces");
    QCOMPARE(static_cast<std::size_t>(samples.size()), app::allSamples().size());
    for (int i = 0; i < samples.size(); ++i) {
        if (app::allSamples()[static_cast<std::size_t>(i)].isJob)
            continue;
        QSignalSpy opened(&app.bench.document, &app::TraceDocument::traceOpened);
        samples[i]->click();
        QVERIFY(opened.wait(20'000));
        QVERIFY(app.bench.document.trace()->sliceCount() > 1000);
    }
    QCOMPARE(app::recentTraces().size(), 2); // they are on the page already
    // Esc returns to the trace on screen.
    auto* page = find<QWidget>(&app.window, "tryIt")->parentWidget()->parentWidget();
    find<QAction>(&app.window, "home")->trigger();
    QVERIFY(page->isVisible());
    QTest::keyClick(samples[0], Qt::Key_Escape);
    QVERIFY(!page->isVisible());
}

void OpeningTest::theSampleOfAJobIsAFolderOfItsTraces()
{
    const auto samples = app::allSamples();
    const auto job = std::ranges::find_if(samples, &app::Sample::isJob);
    QVERIFY(job != samples.end());
    const auto folder = app::sampleFile(*job);
    QVERIFY2(folder, qPrintable(QString::fromStdString(folder ? "" : folder.error().message())));
    QVERIFY(app::isSampleFile(*folder));
    const QFileInfoList ranks = QDir(QString::fromStdString(folder->string())).entryInfoList(QDir::Files);
    QCOMPARE(ranks.size(), 8);
    for (const QFileInfo& rank : ranks) {
        QVERIFY(rank.size() > 1000);
        QVERIFY(app::isSampleFile(rank.filePath().toStdString()));
    }
}

void OpeningTest::tryItWaitsWhileSomethingRuns()
{
    App app;
    const auto configuration = app.bench.configuration.get();
    auto* tryIt = find<QPushButton>(&app.window, "tryIt");
    app.bench.jobs.begin(app::Job::Recording);
    QVERIFY(!tryIt->isEnabled());
    QVERIFY2(tryIt->toolTip().contains("A recording is in progress"), qPrintable(tryIt->toolTip()));
    tryIt->click();
    QCOMPARE(app.bench.configuration.get(), configuration);
    app.bench.jobs.end(app::Job::Recording);
    QVERIFY(tryIt->isEnabled());
}

void OpeningTest::aDroppedConfigurationIsLoaded()
{
    App app;
    const QTemporaryDir folder;
    auto configuration = shortTraining(77);
    const QString file = folder.filePath("training.json");
    QVERIFY(configuration.save(file.toStdString()));
    drop(app.window, {file});
    QTRY_COMPARE(app.bench.configuration.get().text("run.steps"), "77");
}

void OpeningTest::everySubjectHasATable()
{
    App app;
    for (const char* name : {"dock:kernels", "dock:ops", "dock:copies", "dock:memsets", "dock:runtime_calls",
                             "dock:nvtx_ranges", "dock:step_table"})
        QVERIFY2(app.window.findChild<QDockWidget*>(name), name);
}

void OpeningTest::aTableRowMovesTheTimeline()
{
    App app;
    app.bench.configuration.set(shortTraining(60), "short");
    app.bench.training.start();
    QTRY_COMPARE_WITH_TIMEOUT(app.bench.training.state(), RunState::Idle, 20000);
    auto* dock = find<QDockWidget>(&app.window, "dock:step_table");
    dock->raise();
    auto* panel = dock->findChild<app::TablePanel*>();
    QTRY_VERIFY(panel->isVisible());
    QTRY_COMPARE(panel->view()->table()->rowCount(), 60);
    QSignalSpy shown(app.bench.document.selection(), &app::Selection::showRequested);
    panel->view()->setCurrentIndex(panel->view()->table()->index(7, 0));
    QCOMPARE(shown.count(), 1);
    QCOMPARE(app.bench.document.trace()->slice(*app.bench.document.selection()->slice()).args.value, 7);
    // A slice selected in another view marks its step.
    const auto phases = app.bench.document.trace()->ofKind(profiler::ActivityKind::Phase);
    app.bench.document.selection()->selectSlice(phases.back().id);
    QCOMPARE(panel->view()->currentRow(), std::optional<std::size_t>(59));
}

void OpeningTest::everyViewIsReachedByItsShortcut()
{
    App app;
    const QTemporaryDir folder;
    QSignalSpy opened(&app.bench.document, &app::TraceDocument::traceOpened);
    app.bench.document.openTrace(foreignTrace(app, folder).toStdString());
    QTRY_COMPARE(opened.count(), 1);
    for (const char* name : {"kernels", "ops", "summary", "selection"}) {
        find<QAction>(&app.window, QString("goTo:%1").arg(name))->trigger();
        QTRY_VERIFY2(find<QDockWidget>(&app.window, QString("dock:%1").arg(name))->widget()->isVisible(), name);
    }
    find<QAction>(&app.window, "goTo:kernels")->trigger();
    QVERIFY(!find<QAction>(&app.window, "goTo:kernels")->shortcut().isEmpty());
}

void OpeningTest::theWindowFitsALaptop()
{
    App app({1280, 720});
    QCOMPARE(app.window.size(), QSize(1280, 720));
    const QTemporaryDir folder;
    QSignalSpy opened(&app.bench.document, &app::TraceDocument::traceOpened);
    app.bench.document.openTrace(foreignTrace(app, folder).toStdString());
    QTRY_COMPARE(opened.count(), 1);
    for (auto* dock : app.window.findChildren<QDockWidget*>()) {
        dock->raise();
        QTest::qWait(0);
        const QSize least = app.window.minimumSizeHint();
        QVERIFY2(least.width() <= 1180 && least.height() <= 700, qPrintable(leastSizes(app.window)));
    }
    const auto docksTabs = app.window.findChildren<QTabBar*>(QString(), Qt::FindDirectChildrenOnly);
    QVERIFY(!docksTabs.isEmpty());
    for (const QTabBar* tabs : docksTabs)
        QCOMPARE(tabs->elideMode(), Qt::ElideNone); // their names are not elided
    QCOMPARE(app.window.size(), QSize(1280, 720));
}

QTEST_MAIN(OpeningTest)
#include "opening_test.moc"
