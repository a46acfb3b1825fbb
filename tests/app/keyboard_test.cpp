#include "app/document/trace_files.h"
#include "app/timeline/timeline_canvas.h"
#include "app/window/dock.h"
#include "tests/app/app_support.h"
#include "tests/app/app_window.h"

#include <QAction>
#include <QApplication>
#include <QDockWidget>
#include <QMenuBar>
#include <QSettings>
#include <QTest>
#include <QToolButton>
#include <set>

using app_test::App;
using app_test::find;

namespace {

std::unique_ptr<app_test::OwnFolders> folders;

QString nameOf(const QWidget* widget)
{
    return QString("%1 %2 %3").arg(widget->metaObject()->className(), widget->objectName(), widget->accessibleName());
}

const QDockWidget* dockOf(const QWidget* widget)
{
    while (widget && !qobject_cast<const QDockWidget*>(widget))
        widget = widget->parentWidget();
    return static_cast<const QDockWidget*>(widget);
}

/// Sends a key to the focused widget, like the keyboard.
void press(Qt::Key key, Qt::KeyboardModifiers modifiers)
{
    QTest::keyClick(QApplication::focusWidget(), key, modifiers);
    QCoreApplication::processEvents();
}

const QDockWidget* dockInFocus()
{
    return dockOf(QApplication::focusWidget());
}

QAction* goTo(const app::MainWindow& window, const QDockWidget* dock)
{
    return find<QAction>(&window, "goTo:" + QString(dock->objectName()).remove("dock:"));
}

/// With a trace on screen that is completely analysed.
struct Workbench : App {
    Workbench()
    {
        const auto file = app::sampleFile(app::allSamples().front());
        if (!file)
            qFatal("%s", file.error().message().c_str());
        bench.document.openTrace(*file);
        if (!QTest::qWaitFor([this] { return bench.document.analysed() && bench.document.advice(); }, 20'000))
            qFatal("the sample was not analysed in time");
        window.activateWindow();
    }
    /// The widgets that Tab visits from the timeline until it returns there.
    std::vector<QWidget*> round(Qt::Key key)
    {
        constexpr int kMostStops = 400;
        auto* canvas = window.findChild<app::TimelineCanvas*>();
        canvas->setFocus();
        std::vector<QWidget*> stops;
        do {
            stops.push_back(window.focusWidget());
            QTest::keyClick(window.focusWidget(), key);
        } while (window.focusWidget() != canvas && stops.size() < kMostStops);
        return stops;
    }
};

} // namespace

class KeyboardTest : public QObject {
    Q_OBJECT
public:
    static void initMain() { folders = std::make_unique<app_test::OwnFolders>(); }

private slots:
    void init() { QSettings().clear(); }
    void tabVisitsAllVisibleWidgets();
    void iconOnlyWidgetsHaveNames();
    void everyPanelCanBeFloatedClosedAndReopened();
    void panelsBehindTabsAreClosedOneAfterAnother();
    void menuActionsApplyToTheFocusedPanel();
    void theLayoutIsResetFromAnyState();
};

void KeyboardTest::tabVisitsAllVisibleWidgets()
{
    Workbench bench;
    find<QAction>(&bench.window, "leftPanels")->trigger(); // hidden for an opened trace
    for (const char* front : {"dock:summary", "dock:nvtx_ranges", "dock:kernels"}) {
        find<QDockWidget>(&bench.window, front)->raise();
        QCoreApplication::processEvents();
        for (const auto key : {Qt::Key_Tab, Qt::Key_Backtab}) {
            const auto stops = bench.round(key);
            std::set<QString> docks;
            std::set<QWidget*> seen;
            for (QWidget* stop : stops) {
                QVERIFY2(seen.insert(stop).second, qPrintable("twice: " + nameOf(stop)));
                if (const QDockWidget* dock = dockOf(stop)) {
                    QVERIFY2(app::isSeen(dock), qPrintable("not seen: " + nameOf(stop)));
                    docks.insert(dock->objectName());
                }
            }
            for (const char* dock : {front, "dock:run", "dock:runsList", "dock:advisor"})
                QVERIFY2(docks.contains(dock), dock);
        }
    }
}

void KeyboardTest::iconOnlyWidgetsHaveNames()
{
    Workbench bench;
    for (const auto* button : bench.window.findChildren<QToolButton*>())
        if (!button->isHidden() && button->metaObject()->className() == QByteArray("QToolButton"))
            QVERIFY2(!button->text().isEmpty() || !button->accessibleName().isEmpty(),
                     qPrintable(nameOf(button) + " in " + nameOf(button->parentWidget())));
}

void KeyboardTest::everyPanelCanBeFloatedClosedAndReopened()
{
    Workbench bench;
    const auto docks = bench.window.findChildren<QDockWidget*>();
    QVERIFY(docks.size() > 10);
    for (QDockWidget* dock : docks) {
        const auto name = dock->objectName().toUtf8();
        goTo(bench.window, dock)->trigger();
        QTRY_VERIFY2(dockInFocus() == dock, name);
        press(Qt::Key_D, Qt::ControlModifier | Qt::ShiftModifier);
        QVERIFY2(dock->isFloating() && dock->isVisible(), name);
        QTRY_VERIFY2(dockInFocus() == dock, name);
        // Its window has a title, and the mouse can dock it, because its tab is gone.
        if (dock->titleBarWidget())
            QVERIFY2(find<QToolButton>(dock, "dockPanel")->isVisible() && dock->titleBarWidget()->height() > 10, name);
        press(Qt::Key_D, Qt::ControlModifier | Qt::ShiftModifier);
        QVERIFY2(!dock->isFloating(), name);
        QTRY_VERIFY2(dockInFocus() == dock && app::isSeen(dock), name);
        if (dock->titleBarWidget())
            QTRY_COMPARE(dock->titleBarWidget()->height(), 0);
        press(Qt::Key_W, Qt::ControlModifier);
        QVERIFY2(dock->isHidden(), name);
        QTRY_VERIFY2(dockInFocus() != dock && QApplication::focusWidget()->isVisible(), name);
        // It is in the View menu and in Go to.
        dock->toggleViewAction()->trigger();
        QTRY_VERIFY2(dockInFocus() == dock && app::isSeen(dock), name);
        dock->toggleViewAction()->trigger();
        QVERIFY2(dock->isHidden(), name);
        QTRY_VERIFY2(QApplication::focusWidget() && dockInFocus() != dock, name);
        goTo(bench.window, dock)->trigger();
        QTRY_VERIFY2(dockInFocus() == dock && app::isSeen(dock), name);
    }
    // A floating dock is closed as well.
    QDockWidget* kernels = find<QDockWidget>(&bench.window, "dock:kernels");
    goTo(bench.window, kernels)->trigger();
    QTRY_VERIFY(dockInFocus() == kernels);
    press(Qt::Key_D, Qt::ControlModifier | Qt::ShiftModifier);
    QTRY_VERIFY(dockInFocus() == kernels && QApplication::activeWindow() == kernels);
    press(Qt::Key_W, Qt::ControlModifier);
    QVERIFY(kernels->isHidden());
    QTRY_VERIFY(QApplication::focusWidget() && QApplication::focusWidget()->window() == &bench.window);
}

void KeyboardTest::panelsBehindTabsAreClosedOneAfterAnother()
{
    Workbench bench;
    QDockWidget* first = find<QDockWidget>(&bench.window, "dock:kernels");
    const auto beside = bench.window.tabifiedDockWidgets(first);
    QVERIFY(beside.size() > 5);
    goTo(bench.window, first)->trigger();
    QTRY_VERIFY(dockInFocus() == first);
    for (qsizetype left = beside.size(); left > 0; --left) {
        const QDockWidget* closed = dockInFocus();
        QVERIFY(closed);
        press(Qt::Key_W, Qt::ControlModifier);
        QVERIFY2(closed->isHidden(), qPrintable(closed->objectName()));
        QTRY_VERIFY2(dockInFocus() && dockInFocus() != closed, qPrintable(closed->objectName()));
        QVERIFY(dockInFocus() == first || beside.contains(dockInFocus()));
        QVERIFY(!dockInFocus()->visibleRegion().isEmpty());
    }
    press(Qt::Key_W, Qt::ControlModifier);
    QTRY_VERIFY(QApplication::focusWidget() == bench.window.findChild<app::TimelineCanvas*>());
    // The central view cannot be closed.
    QVERIFY(!find<QAction>(&bench.window, "closePanel")->isEnabled());
}

void KeyboardTest::menuActionsApplyToTheFocusedPanel()
{
    Workbench bench;
    QDockWidget* kernels = find<QDockWidget>(&bench.window, "dock:kernels");
    goTo(bench.window, kernels)->trigger();
    QTRY_VERIFY(dockInFocus() == kernels);
    bench.window.menuBar()->setFocus(Qt::MenuBarFocusReason);
    auto* close = find<QAction>(&bench.window, "closePanel");
    auto* floats = find<QAction>(&bench.window, "floatPanel");
    QVERIFY(close->text().contains(kernels->windowTitle()) && floats->text().contains(kernels->windowTitle()));
    const QString offered = floats->text();
    floats->trigger();
    QVERIFY(kernels->isFloating());
    QVERIFY(floats->text() != offered);
    close->trigger();
    QVERIFY(kernels->isHidden());
    QTRY_VERIFY(!close->isEnabled());
}

void KeyboardTest::theLayoutIsResetFromAnyState()
{
    Workbench bench;
    const auto docks = bench.window.findChildren<QDockWidget*>();
    QDockWidget* kernels = find<QDockWidget>(&bench.window, "dock:kernels");
    goTo(bench.window, kernels)->trigger();
    QTRY_VERIFY(dockInFocus() == kernels);
    press(Qt::Key_D, Qt::ControlModifier | Qt::ShiftModifier);
    QVERIFY(kernels->isFloating());
    for (QDockWidget* dock : docks)
        if (dock != kernels)
            dock->close();
    find<QAction>(&bench.window, "resetLayout")->trigger();
    for (const QDockWidget* dock : docks) {
        // The left panels are hidden for an opened trace, and the difference without a second trace.
        const bool hidden = bench.window.dockWidgetArea(const_cast<QDockWidget*>(dock)) == Qt::LeftDockWidgetArea ||
                            dock->objectName() == "dock:step_difference";
        QVERIFY2(dock->isHidden() == hidden && !dock->isFloating(), qPrintable(dock->objectName()));
    }
    QTRY_COMPARE(kernels->titleBarWidget()->height(), 0);
    QVERIFY(bench.window.tabifiedDockWidgets(kernels).size() > 5);
    QTRY_VERIFY(QApplication::focusWidget() && QApplication::focusWidget()->window() == &bench.window);
}

QTEST_MAIN(KeyboardTest)
#include "keyboard_test.moc"
