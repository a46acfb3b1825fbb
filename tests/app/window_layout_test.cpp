#include "app/document/trace_files.h"
#include "app/timeline/timeline_canvas.h"
#include "app/window/dock.h"
#include "app/window/dock_layout.h"
#include "profiler/formats/format.h"
#include "tests/app/app_support.h"
#include "tests/app/app_window.h"
#include "tests/support/allocator_trace.h"
#include "tests/support/trace_text.h"

#include <QAction>
#include <QDialog>
#include <QDockWidget>
#include <QLabel>
#include <QMenu>
#include <QMenuBar>
#include <QSettings>
#include <QTabBar>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

// How much of the window the timeline gets, and that each kind of document has its own layout.

using app_test::App;
using app_test::find;

namespace {

std::unique_ptr<app_test::OwnFolders> folders;

QAction* action(const App& app, const char* name)
{
    return find<QAction>(&app.window, name);
}

const app::DockLayout* layoutOf(const App& app)
{
    return app.window.findChild<app::DockLayout*>();
}

/// Opens a trace that no training of ours has recorded here, and waits for everything that takes space above it.
void openTrace(App& app)
{
    const auto file = app::sampleFile(app::allSamples().front());
    if (!file)
        qFatal("%s", file.error().message().c_str());
    app.bench.document.openTrace(*file);
    if (!QTest::qWaitFor([&] { return app.bench.document.analysed() && app.bench.document.advice(); }, 20'000))
        qFatal("the sample was not analysed in time");
    QTest::qWait(100);
}

app::TimelineCanvas* canvas(const App& app)
{
    return app.window.findChild<app::TimelineCanvas*>();
}

double timelineShare(const App& app)
{
    const QSize timeline = canvas(app)->size(), window = app.window.size();
    return double(timeline.width()) * timeline.height() / (double(window.width()) * window.height());
}

/// Position and size of every panel and central view; behind a tab or collapsed: not visible.
QMap<QString, QRect> places(const App& app)
{
    QMap<QString, QRect> found;
    for (const app::DockLayout::PlacedView& placed : layoutOf(app)->views()) {
        const bool visible = placed.widget->isVisible() && !placed.widget->visibleRegion().isEmpty();
        found[placed.widget->objectName()] =
            visible ? QRect(placed.widget->mapTo(&app.window, QPoint()), placed.widget->size()) : QRect();
    }
    return found;
}

bool isAnyShown(const App& app, Qt::DockWidgetArea area)
{
    const auto docks = app.window.findChildren<QDockWidget*>();
    return std::any_of(docks.begin(), docks.end(),
                       [&](QDockWidget* dock) { return dock->isVisible() && app.window.dockWidgetArea(dock) == area; });
}

} // namespace

class WindowLayoutTest : public QObject {
    Q_OBJECT
public:
    static void initMain() { folders = std::make_unique<app_test::OwnFolders>(); }

private slots:
    void init();
    void theTimelineGetsItsShareOfTheWindow_data();
    void theTimelineGetsItsShareOfTheWindow();
    void rowsFillTheHeight();
    void aKeyMaximizesTheTimelineAndRestoresTheLayout();
    void showingAPanelLeavesTheMaximizedState();
    void theConfigurationIsOneClickAway();
    void aNarrowWindowShowsThePanelsOfOneSide();
    void eachKindOfDocumentHasItsOwnLayout();
    void aRecordedProgramHasItsOwnLayout();
    void aMemorySnapshotShowsItsMemory();
    void aMaximizedTimelineIsNotTheSavedLayout();
    void theStepsCanBeCollapsed();
    void noPanelKeepsTheFocusWhenItIsHidden();
    void aDoubleClickOnATabMakesThePanelsTall();
    void aLayoutOfALargeWindowFitsASmallOne_data();
    void aLayoutOfALargeWindowFitsASmallOne();
    void theShortcutsAreNotCutOff();
    void allTabsCanBeReached_data();
    void allTabsCanBeReached();
};

void WindowLayoutTest::init()
{
    app_test::useScript("train");
    QSettings().clear();
}

void WindowLayoutTest::theTimelineGetsItsShareOfTheWindow_data()
{
    app_test::addTimelineShares();
}

void WindowLayoutTest::theTimelineGetsItsShareOfTheWindow()
{
    QFETCH(QSize, size);
    QFETCH(double, share);
    App app(size);
    openTrace(app);
    QStringList widths;
    for (const auto* dock : app.window.findChildren<QDockWidget*>())
        widths << QString("%1 %2").arg(dock->objectName()).arg(dock->minimumSizeHint().width());
    QVERIFY2(app.window.size() == size, qPrintable(widths.join(", "))); // nothing needs more space
    QVERIFY(!isAnyShown(app, Qt::LeftDockWidgetArea));
    QVERIFY(isAnyShown(app, Qt::RightDockWidgetArea));
    QVERIFY(isAnyShown(app, Qt::BottomDockWidgetArea));
    // A tab, and what is known about a slice.
    QVERIFY2(find<QWidget>(&app.window, "dock:summary")->height() >= size.height() / 6,
             qPrintable(QString::number(find<QWidget>(&app.window, "dock:summary")->height())));
    const double got = timelineShare(app);
    qInfo("%s: %.1f %%", QTest::currentDataTag(), got * 100);
    QVERIFY2(got >= share, qPrintable(QString::number(got)));
    action(app, "maximizeTimeline")->trigger();
    QCoreApplication::processEvents();
    const double most = timelineShare(app);
    qInfo("maximized: %.1f %%", most * 100);
    QVERIFY2(most >= 0.7, qPrintable(QString::number(most)));
}

void WindowLayoutTest::rowsFillTheHeight()
{
    App app({1920, 1080});
    openTrace(app);
    action(app, "maximizeTimeline")->trigger();
    QCoreApplication::processEvents();
    const app::TimelineScene& scene = canvas(app)->scene();
    const int room = scene.lanesRect().height(), rows = scene.rows.height();
    QVERIFY2(rows <= room, qPrintable(QString("%1 of %2").arg(rows).arg(room)));
    // Stretched up to the limit, or until less than a pixel per lane is left.
    const auto lane = std::find_if(scene.rows.all().begin(), scene.rows.all().end(),
                                   [](const app::TrackRow& row) { return row.lanes > 0; });
    QVERIFY(lane != scene.rows.all().end());
    QVERIFY2(room - rows < 30 || lane->laneHeight == app::TrackRows::kMostStretch * app::TrackRows::kLaneHeight,
             qPrintable(QString("%1 of %2").arg(rows).arg(room)));
    QVERIFY(lane->laneHeight > app::TrackRows::kLaneHeight);
}

void WindowLayoutTest::aKeyMaximizesTheTimelineAndRestoresTheLayout()
{
    App app({1920, 1080});
    openTrace(app);
    find<QDockWidget>(&app.window, "dock:kernels")->raise();
    app.window.resizeDocks({find<QDockWidget>(&app.window, "dock:kernels")}, {301}, Qt::Vertical);
    QTest::qWait(50);
    const auto before = places(app);
    QVERIFY(before["kernels"].isValid() && !before["summary"].isValid());
    QCOMPARE(action(app, "maximizeTimeline")->shortcut(), QKeySequence("Ctrl+M"));
    canvas(app)->setFocus();
    QTest::keyClick(&app.window, Qt::Key_M, Qt::ControlModifier);
    QTest::qWait(50);
    const auto maximized = places(app);
    for (auto at = maximized.begin(); at != maximized.end(); ++at)
        QVERIFY2(at.value().isValid() == (at.key() == "timeline"), qPrintable(at.key()));
    QVERIFY(action(app, "maximizeTimeline")->isChecked());
    QTest::keyClick(&app.window, Qt::Key_M, Qt::ControlModifier);
    QTest::qWait(50);
    QCOMPARE(places(app), before);
    QVERIFY(!action(app, "maximizeTimeline")->isChecked());
    bool inMenu = false;
    for (const QAction* top : app.window.menuBar()->actions())
        inMenu = inMenu || (top->menu() && top->menu()->actions().contains(action(app, "maximizeTimeline")));
    QVERIFY(inMenu);
}

void WindowLayoutTest::showingAPanelLeavesTheMaximizedState()
{
    App app;
    openTrace(app);
    const auto before = places(app);
    action(app, "maximizeTimeline")->trigger();
    action(app, "goTo:ops")->trigger();
    QTest::qWait(50);
    QVERIFY(!layoutOf(app)->isMaximized());
    QVERIFY(places(app)["ops"].isValid());
    QCOMPARE(places(app)["timeline"], before["timeline"]);
    // The same from the menu of views.
    action(app, "maximizeTimeline")->trigger();
    find<QDockWidget>(&app.window, "dock:advisor")->toggleViewAction()->trigger();
    QTest::qWait(50);
    QVERIFY(!layoutOf(app)->isMaximized());
    QCOMPARE(places(app)["advisor"], before["advisor"]);
}

void WindowLayoutTest::theConfigurationIsOneClickAway()
{
    App app;
    openTrace(app);
    QVERIFY(!find<QWidget>(&app.window, "dock:run")->isVisible());
    QAction* left = action(app, "leftPanels");
    QVERIFY(left->isEnabled() && !left->isChecked());
    left->trigger();
    QVERIFY(find<QWidget>(&app.window, "dock:run")->isVisible());
    QVERIFY(find<QWidget>(&app.window, "dock:runsList")->isVisible());
    QVERIFY(left->isChecked());
    left->trigger();
    QVERIFY(!isAnyShown(app, Qt::LeftDockWidgetArea));
    // The panels at the bottom return with the same one in front.
    find<QDockWidget>(&app.window, "dock:kernels")->raise();
    QTest::qWait(50);
    const auto before = places(app);
    action(app, "bottomPanels")->trigger();
    QTest::qWait(50);
    QVERIFY(!isAnyShown(app, Qt::BottomDockWidgetArea));
    action(app, "bottomPanels")->trigger();
    QTest::qWait(50);
    QCOMPARE(places(app), before);
}

void WindowLayoutTest::aNarrowWindowShowsThePanelsOfOneSide()
{
    App app({960, 540});
    openTrace(app);
    QVERIFY(isAnyShown(app, Qt::RightDockWidgetArea));
    action(app, "leftPanels")->trigger();
    QTest::qWait(50);
    QVERIFY(isAnyShown(app, Qt::LeftDockWidgetArea) && !isAnyShown(app, Qt::RightDockWidgetArea));
    QCOMPARE(app.window.width(), 960);
    action(app, "goTo:advisor")->trigger();
    QTest::qWait(50);
    QVERIFY(!isAnyShown(app, Qt::LeftDockWidgetArea) && isAnyShown(app, Qt::RightDockWidgetArea));
}

void WindowLayoutTest::eachKindOfDocumentHasItsOwnLayout()
{
    {
        App app;
        QVERIFY(find<QWidget>(&app.window, "dock:run")->isVisible()); // on the start page
        openTrace(app);
        find<QDockWidget>(&app.window, "dock:advisor")->close();
        action(app, "home")->trigger();
        QVERIFY(find<QWidget>(&app.window, "dock:run")->isVisible());
        QVERIFY(!isAnyShown(app, Qt::BottomDockWidgetArea));
        app.bench.configuration.set(app_test::shortTraining(), "short");
        app.bench.training.start();
        QTRY_VERIFY_WITH_TIMEOUT(!app.bench.training.isOpen(), 60'000);
        QTRY_COMPARE(layoutOf(app)->shown(), std::optional(app::DocumentKind::Training));
        QVERIFY(find<QWidget>(&app.window, "dock:run")->isVisible());
        QVERIFY(find<QWidget>(&app.window, "dock:advisor")->isVisible()); // closed for opened traces only
        find<QDockWidget>(&app.window, "dock:runsList")->close();
        app.window.close();
    }
    App app;
    QVERIFY(find<QWidget>(&app.window, "dock:runsList")->isVisible());
    openTrace(app);
    QCOMPARE(layoutOf(app)->shown(), std::optional(app::DocumentKind::Trace));
    QVERIFY(!find<QWidget>(&app.window, "dock:advisor")->isVisible());
    QVERIFY(!find<QWidget>(&app.window, "dock:run")->isVisible());
    // A run of ours comes with its configuration.
    app.bench.document.openTrace(app.bench.runs.all().front().trace());
    QTRY_COMPARE_WITH_TIMEOUT(layoutOf(app)->shown(), std::optional(app::DocumentKind::Training), 20'000);
    QVERIFY(find<QWidget>(&app.window, "dock:run")->isVisible());
    QVERIFY(!find<QWidget>(&app.window, "dock:runsList")->isVisible());
    QVERIFY(find<QWidget>(&app.window, "dock:advisor")->isVisible());
    action(app, "resetLayout")->trigger();
    QVERIFY(find<QWidget>(&app.window, "dock:runsList")->isVisible());
}

void WindowLayoutTest::aRecordedProgramHasItsOwnLayout()
{
    const QTemporaryDir folder;
    const std::filesystem::path file = folder.filePath("program.sspack").toStdString();
    const auto trace =
        test_support::traceFromText("meta record.command python train.py\nmeta record.directory " +
                                    folder.path().toStdString() + "\nmeta program {\"files\":[]}\nmain\nop a 0 1\n");
    QVERIFY(profiler::formats::saveTrace(*trace, file, {}));
    App app;
    openTrace(app);
    find<QDockWidget>(&app.window, "dock:advisor")->close();
    app.bench.document.openTrace(file);
    QTRY_COMPARE_WITH_TIMEOUT(layoutOf(app)->shown(), std::optional(app::DocumentKind::Program), 20'000);
    QVERIFY(!isAnyShown(app, Qt::LeftDockWidgetArea)); // the trainer's configuration is not about it
    QVERIFY(find<QWidget>(&app.window, "dock:advisor")->isVisible());
}

void WindowLayoutTest::aMemorySnapshotShowsItsMemory()
{
    const QTemporaryDir folder;
    const std::filesystem::path file = folder.filePath("memory.sspack").toStdString();
    QVERIFY(profiler::formats::saveTrace(
        *test_support::AllocatorTrace().alloc(1, 100, "/me/train.py:9 main").free(1, 100).trace(), file, {}));
    App app;
    openTrace(app);
    QVERIFY(!app::isSeen(find<QDockWidget>(&app.window, "dock:memory")));
    app.bench.document.openTrace(file);
    QTRY_VERIFY_WITH_TIMEOUT(app::isSeen(find<QDockWidget>(&app.window, "dock:memory")), 20'000);
}

void WindowLayoutTest::aMaximizedTimelineIsNotTheSavedLayout()
{
    QMap<QString, QRect> before;
    {
        App app;
        openTrace(app);
        before = places(app);
        action(app, "maximizeTimeline")->trigger();
        app.window.close();
    }
    App app;
    openTrace(app);
    QCOMPARE(places(app), before);
}

void WindowLayoutTest::theStepsCanBeCollapsed()
{
    App app;
    openTrace(app);
    const auto before = places(app);
    QVERIFY(before["steps"].isValid());
    QAction* steps = action(app, "strip:steps");
    QVERIFY(steps->isCheckable());
    steps->trigger();
    QTest::qWait(20);
    QVERIFY(!places(app)["steps"].isValid());
    QVERIFY(places(app)["timeline"].height() > before["timeline"].height() + 60);
    steps->trigger();
    QTest::qWait(20);
    QVERIFY(places(app)["steps"].isValid());
}

void WindowLayoutTest::noPanelKeepsTheFocusWhenItIsHidden()
{
    App app;
    openTrace(app);
    app.window.activateWindow();
    action(app, "goTo:ops")->trigger();
    QTRY_VERIFY(find<QWidget>(&app.window, "dock:ops")->isAncestorOf(app.window.focusWidget()));
    action(app, "bottomPanels")->trigger();
    QCOMPARE(app.window.focusWidget(), static_cast<QWidget*>(canvas(app)));
}

void WindowLayoutTest::aDoubleClickOnATabMakesThePanelsTall()
{
    App app({1366, 768});
    openTrace(app);
    auto* dock = find<QDockWidget>(&app.window, "dock:memory");
    dock->raise();
    QTabBar* bar = nullptr;
    for (auto* tabs : app.window.findChildren<QTabBar*>(QString(), Qt::FindDirectChildrenOnly))
        if (!bar || tabs->count() > bar->count())
            bar = tabs;
    const int low = dock->height();
    QVERIFY(low < 200);
    const auto doubleClick = [&] {
        QTest::mouseDClick(bar, Qt::LeftButton, Qt::NoModifier, bar->tabRect(bar->currentIndex()).center());
        QCoreApplication::processEvents();
    };
    doubleClick();
    QTRY_VERIFY2(dock->height() > 330, qPrintable(QString::number(dock->height())));
    doubleClick();
    QTRY_COMPARE(dock->height(), low);
    QCOMPARE(app.window.size(), QSize(1366, 768));
}

void WindowLayoutTest::aLayoutOfALargeWindowFitsASmallOne_data()
{
    QTest::addColumn<bool>("isTrace");
    QTest::newRow("an opened trace") << true;
    QTest::newRow("a training") << false;
}

void WindowLayoutTest::aLayoutOfALargeWindowFitsASmallOne()
{
    QFETCH(bool, isTrace);
    const auto show = [&](App& app) {
        if (isTrace)
            return openTrace(app);
        app.bench.configuration.set(app_test::shortTraining(), "short");
        app.bench.training.start();
        QTRY_VERIFY_WITH_TIMEOUT(!app.bench.training.isOpen(), 60'000);
        QTRY_COMPARE(layoutOf(app)->shown(), std::optional(app::DocumentKind::Training));
    };
    {
        App app({1920, 1080});
        show(app);
        for (const char* area : {"leftPanels", "bottomPanels", "rightPanels"})
            if (!action(app, area)->isChecked())
                action(app, area)->trigger();
        for (auto* dock : app.window.findChildren<QDockWidget*>())
            if (dock->isVisible() && app.window.dockWidgetArea(dock) != Qt::BottomDockWidgetArea)
                app.window.resizeDocks({dock}, {600}, Qt::Horizontal);
        QTest::qWait(50);
        QVERIFY(isAnyShown(app, Qt::LeftDockWidgetArea) && isAnyShown(app, Qt::RightDockWidgetArea));
        app.window.closeUnasked();
    }
    App small({960, 540});
    show(small);
    QCOMPARE(small.window.size(), QSize(960, 540));
    QVERIFY(isAnyShown(small, Qt::BottomDockWidgetArea));
    QVERIFY(canvas(small)->width() > 200);
}

void WindowLayoutTest::theShortcutsAreNotCutOff()
{
    App app({1366, 768});
    openTrace(app);
    action(app, "keys")->trigger();
    const QDialog* sheet = nullptr;
    for (const auto* dialog : app.window.findChildren<QDialog*>())
        if (dialog->isVisible())
            sheet = dialog;
    QVERIFY(sheet);
    const auto labels = sheet->findChildren<QLabel*>();
    QVERIFY(labels.size() > 60);
    for (const auto* label : labels)
        QVERIFY2(label->height() >= label->heightForWidth(label->width()) &&
                     (label->wordWrap() || label->width() >= label->sizeHint().width()),
                 qPrintable(label->text()));
}

void WindowLayoutTest::allTabsCanBeReached_data()
{
    QTest::addColumn<QSize>("size");
    QTest::addColumn<bool>("fit");
    QTest::newRow("1920x1080") << QSize(1920, 1080) << true;
    QTest::newRow("1366x768") << QSize(1366, 768) << true;
    QTest::newRow("1920x1080 at 200 %") << QSize(960, 540) << false;
}

/// Where the tabs do not fit, a menu lists all of them.
void WindowLayoutTest::allTabsCanBeReached()
{
    QFETCH(QSize, size);
    QFETCH(bool, fit);
    App app(size);
    openTrace(app);
    QTabBar* bar = nullptr;
    for (auto* tabs : app.window.findChildren<QTabBar*>(QString(), Qt::FindDirectChildrenOnly))
        if (!bar || tabs->count() > bar->count())
            bar = tabs;
    QVERIFY(bar && bar->count() > 10);
    auto* all = find<QToolButton>(bar, "allTabs");
    const int last = bar->count() - 1;
    QCOMPARE(all->isVisible(), !fit);
    if (fit) {
        QVERIFY2(bar->tabRect(last).right() <= bar->width(),
                 qPrintable(QString("%1 of %2").arg(bar->tabRect(last).right()).arg(bar->width())));
        return;
    }
    QVERIFY(bar->rect().contains(all->geometry()));
    for (const char* scroll : {"ScrollLeftButton", "ScrollRightButton"})
        QVERIFY2(!find<QToolButton>(bar, scroll)->geometry().intersects(all->geometry()), scroll);
    QTest::mouseClick(all, Qt::LeftButton);
    auto* menu = find<QMenu>(all, "allTabsMenu");
    QCOMPARE(menu->actions().size(), bar->count());
    QCOMPARE(menu->actions()[last]->text(), bar->tabText(last));
    menu->actions()[last]->trigger();
    menu->close();
    QCOMPARE(bar->currentIndex(), last);
}

QTEST_MAIN(WindowLayoutTest)
#include "window_layout_test.moc"
