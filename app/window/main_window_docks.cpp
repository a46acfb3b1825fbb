#include "app/look/qstring.h"
#include "app/window/dock.h"
#include "app/window/dock_controller.h"
#include "app/window/main_window.h"
#include "stepscope_app_views_registry.h"

#include <QChildEvent>
#include <QDockWidget>
#include <QSettings>
#include <QSplitter>
#include <QStackedWidget>
#include <QTabBar>
#include <algorithm>
#include <utility>

// The docks are created from the view registry after the first paint. Their layout is saved.
namespace app {

namespace {

// The version of the dock arrangement: a layout that was saved with another version is not restored.
constexpr int kLayoutVersion = 3;
constexpr int kLow = 800; ///< pixels: in a laptop's window, the timeline needs space from the step strip
constexpr auto kGeometryKey = "window/geometry";
constexpr auto kLayoutKey = "window/layout";
constexpr auto kCentreKey = "window/centre";

Qt::DockWidgetArea dockArea(ViewArea area)
{
    switch (area) {
    case ViewArea::Right:
        return Qt::RightDockWidgetArea;
    case ViewArea::Bottom:
        return Qt::BottomDockWidgetArea;
    default:
        return Qt::LeftDockWidgetArea;
    }
}

} // namespace

void MainWindow::makeViews()
{
    auto all = views::all();
    std::stable_sort(all.begin(), all.end(),
                     [](const auto& a, const auto& b) { return a.entry.order < b.entry.order; });
    for (const auto& [stem, view] : all) {
        if (view.area == ViewArea::Start)
            continue;
        const bool central = view.area == ViewArea::Center;
        QWidget* widget = view.create(*m_bench, central ? static_cast<QWidget*>(m_centre) : this);
        if (widget->objectName().isEmpty())
            widget->setObjectName(asQString(stem));
        if (central)
            m_centre->addWidget(widget);
        else
            addDock(view, widget);
        addViewActions(widget, view.title);
    }
    // The last central view gets the remaining space.
    for (int i = 0; i < m_centre->count(); ++i)
        m_centre->setStretchFactor(i, i + 1 == m_centre->count() ? 1 : 0);
    if (m_centre->count() == 2 && height() < kLow)
        m_centre->setSizes({m_centre->widget(0)->minimumSizeHint().height(), height()});
    arrangeDocks();
    m_defaultLayout = saveState(kLayoutVersion);
    const QSettings settings;
    restoreState(settings.value(kLayoutKey).toByteArray(), kLayoutVersion);
    m_centre->restoreState(settings.value(kCentreKey).toByteArray());
    showStartPage(m_bench->document.title().isEmpty());
}

void MainWindow::addDock(const View& view, QWidget* widget)
{
    auto* dock = new Dock(view.title, this);
    dock->setObjectName("dock:" + widget->objectName());
    dock->setWidget(widget);
    if (widget->accessibleName().isEmpty())
        widget->setAccessibleName(view.title);
    // Before the tables are tabbed, they are side by side and would make the window as wide as all of them together.
    const auto sibling = std::find_if(m_docks.begin(), m_docks.end(),
                                      [](const auto& made) { return made.first.area == ViewArea::Bottom; });
    if (view.area == ViewArea::Bottom && sibling != m_docks.end())
        tabifyDockWidget(sibling->second, dock);
    else
        addDockWidget(dockArea(view.area), dock);
    dock->show(); // otherwise it stays hidden until the event loop runs, and a layout saved before then would record
                  // that
    m_docks.emplace_back(view, dock);
}

bool MainWindow::event(QEvent* event)
{
    // Tab bars are created and removed with the docks. Tabs without enough space scroll instead of shrinking to one or
    // two letters.
    if (event->type() == QEvent::ChildPolished) {
        if (auto* tabs = qobject_cast<QTabBar*>(static_cast<QChildEvent*>(event)->child())) {
            tabs->setElideMode(Qt::ElideNone);
            tabs->setUsesScrollButtons(true);
            tabs->setAccessibleName(tr("Views"));
        }
    }
    return QMainWindow::event(event);
}

void MainWindow::arrangeDocks()
{
    setCorner(Qt::BottomLeftCorner, Qt::LeftDockWidgetArea);
    setCorner(Qt::BottomRightCorner, Qt::RightDockWidgetArea);
    setTabPosition(Qt::AllDockWidgetAreas, QTabWidget::North);
    setDocumentMode(true);
    QDockWidget* firstBottom = nullptr;
    QList<QDockWidget*> left;
    for (const auto& [view, dock] : m_docks) {
        if (view.area == ViewArea::Left)
            left << dock;
        if (view.area == ViewArea::Right)
            resizeDocks({dock}, {std::clamp(width() / 4, 280, 360)}, Qt::Horizontal); // laptops have less space
        if (view.area != ViewArea::Bottom)
            continue;
        if (!firstBottom)
            firstBottom = dock;
    }
    if (firstBottom) {
        for (const auto& [view, dock] : m_docks)
            if (view.area == ViewArea::Bottom)
                dock->leaveTitleToTab();
        firstBottom->raise();
        resizeDocks({firstBottom}, {std::clamp(height() / 4, 170, 230)}, Qt::Vertical);
    }
    if (!left.isEmpty())
        resizeDocks({left.front()}, {std::clamp(width() * 2 / 9, 260, 320)}, Qt::Horizontal);
    if (left.size() == 2)
        resizeDocks(left, {560, 200}, Qt::Vertical);
}

void MainWindow::showStartPage(bool start)
{
    // The hidden page requests no space; no page does while docks are rearranged.
    for (int i = 0; i < m_stack->count(); ++i)
        m_stack->widget(i)->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Ignored);
    m_stack->setCurrentIndex(start ? 0 : 1);
    if (start)
        hideDocksForStart();
    else
        showHiddenDocks();
    m_stack->currentWidget()->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Preferred);
    if (!start)
        focusCentre();
}

void MainWindow::focusCentre()
{
    if (m_stack->currentIndex() == 0)
        m_start->setFocus();
    else if (m_centre->count() > 0)
        m_centre->widget(m_centre->count() - 1)->setFocus();
}

void MainWindow::hideDocksForStart()
{
    // Views that have nothing to show without a trace are hidden.
    for (const auto& [view, dock] : m_docks)
        if ((view.area == ViewArea::Bottom || view.area == ViewArea::Right) && !dock->isHidden()) {
            dock->hide();
            m_hiddenForStart.push_back(dock);
        }
}

void MainWindow::showHiddenDocks()
{
    for (QDockWidget* dock : std::exchange(m_hiddenForStart, {}))
        dock->show();
}

void MainWindow::restoreLayout()
{
    restoreGeometry(QSettings().value(kGeometryKey).toByteArray());
}

void MainWindow::saveLayout()
{
    showHiddenDocks();
    QSettings settings;
    settings.setValue(kGeometryKey, saveGeometry());
    settings.setValue(kLayoutKey, saveState(kLayoutVersion));
    settings.setValue(kCentreKey, m_centre->saveState());
}

void MainWindow::resetLayout()
{
    restoreState(m_defaultLayout, kLayoutVersion);
    arrangeDocks();
    m_hiddenForStart.clear();
    showStartPage(m_stack->currentIndex() == 0);
    activateWindow(); // a floating panel may have been the active one
}

} // namespace app
