#include "app/window/dock.h"

#include "app/look/icon.h"
#include "app/look/style.h"

#include <QAction>
#include <QApplication>
#include <QDockWidget>
#include <QEvent>
#include <QHBoxLayout>
#include <QMainWindow>
#include <QMenu>
#include <QMenuBar>
#include <QSplitter>
#include <QStyle>
#include <QStyleOptionDockWidget>
#include <QStylePainter>
#include <QTabBar>
#include <QToolBar>
#include <QToolButton>
#include <algorithm>
#include <functional>
#include <utility>

namespace app {

namespace {

/// Has no height while the dock is docked; otherwise a title bar to drag it by.
class DockTitle : public QWidget {
public:
    explicit DockTitle(QDockWidget* dock);

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    void addButton(const QString& name, const QString& iconStem, const QString& what,
                   const std::function<void()>& press);
    void follow(bool floating);

    QDockWidget* m_dock;
};

DockTitle::DockTitle(QDockWidget* dock) : QWidget(dock), m_dock(dock)
{
    auto* layout = new QHBoxLayout(this);
    layout->setSpacing(0);
    layout->addStretch(1); // the title is painted here
    addButton("dockPanel", "undock", Dock::tr("Dock %1"), [dock] { dock->setFloating(false); });
    addButton("closePanel", "close", Dock::tr("Close %1"), [dock] { dock->close(); });
    connect(dock, &QDockWidget::topLevelChanged, this, &DockTitle::follow);
    follow(dock->isFloating());
}

void DockTitle::addButton(const QString& name, const QString& iconStem, const QString& what,
                          const std::function<void()>& press)
{
    auto* button = new QToolButton(this);
    button->setObjectName(name);
    button->setIcon(icon(iconStem, QPalette::PlaceholderText));
    button->setAutoRaise(true);
    button->setToolTip(what.arg(m_dock->windowTitle()));
    button->setAccessibleName(button->toolTip());
    connect(button, &QToolButton::clicked, this, press);
    layout()->addWidget(button);
}

void DockTitle::follow(bool floating)
{
    // Without content and margins, its height is 0.
    for (auto* button : findChildren<QToolButton*>())
        button->setVisible(floating);
    const int margin = floating ? style()->pixelMetric(QStyle::PM_DockWidgetTitleMargin, nullptr, m_dock) : 0;
    layout()->setContentsMargins(margin, margin / 2, margin, margin / 2);
}

void DockTitle::paintEvent(QPaintEvent*)
{
    QStyleOptionDockWidget option;
    option.initFrom(this);
    option.title = m_dock->windowTitle();
    QStylePainter(this).drawControl(QStyle::CE_DockWidgetTitle, option);
}

constexpr int kOverflowWidth = 24; ///< logical pixels

/// The button that lists all tabs of a bar, while they do not fit.
class TabOverflow : public QToolButton {
public:
    explicit TabOverflow(QTabBar* tabs);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void place();
    void showMenu();

    QTabBar* m_tabs;
    QToolButton* m_scroll; ///< Qt's button, visible while the tabs do not fit
};

TabOverflow::TabOverflow(QTabBar* tabs)
    : QToolButton(tabs), m_tabs(tabs), m_scroll(tabs->findChild<QToolButton*>("ScrollLeftButton"))
{
    setObjectName("allTabs");
    setArrowType(Qt::DownArrow);
    setAutoRaise(true);
    setAutoFillBackground(true); // tabs are painted below it
    setBackgroundRole(QPalette::Window);
    setToolTip(QTabBar::tr("All panels"));
    setAccessibleName(toolTip());
    hide();
    connect(this, &QToolButton::clicked, this, &TabOverflow::showMenu);
    tabs->setProperty(kTabMenuWidth, kOverflowWidth);
    tabs->installEventFilter(this);
    if (m_scroll)
        m_scroll->installEventFilter(this);
    place();
}

bool TabOverflow::eventFilter(QObject* watched, QEvent* event)
{
    const bool ofBar = watched == m_tabs && event->type() == QEvent::Resize;
    const bool ofScroll = watched == m_scroll && (event->type() == QEvent::Show || event->type() == QEvent::Hide);
    if (ofBar || ofScroll)
        place();
    return QToolButton::eventFilter(watched, event);
}

void TabOverflow::place()
{
    setGeometry(QStyle::visualRect(m_tabs->layoutDirection(), m_tabs->rect(),
                                   {m_tabs->width() - kOverflowWidth, 0, kOverflowWidth, m_tabs->height()}));
    setVisible(m_scroll && !m_scroll->isHidden());
    raise();
}

void TabOverflow::showMenu()
{
    auto* menu = new QMenu(this);
    menu->setObjectName("allTabsMenu");
    menu->setAttribute(Qt::WA_DeleteOnClose);
    for (int i = 0; i < m_tabs->count(); ++i) {
        QAction* tab = menu->addAction(m_tabs->tabText(i), m_tabs, [tabs = m_tabs, i] { tabs->setCurrentIndex(i); });
        tab->setCheckable(true);
        tab->setChecked(i == m_tabs->currentIndex());
    }
    menu->popup(mapToGlobal(QPoint(width() - menu->sizeHint().width(), height())));
}

template <class T>
T* nearest(QWidget* widget)
{
    for (; widget; widget = widget->parentWidget())
        if (auto* found = qobject_cast<T*>(widget))
            return found;
    return nullptr;
}

/// Focuses the view of the dock. An empty view without focusable content passes the focus to its first button or to the
/// dock.
void focusInside(QDockWidget* dock, Qt::FocusReason reason)
{
    const auto hasIt = [dock] {
        const QWidget* focus = dock->window()->focusWidget();
        return focus && dock->isAncestorOf(focus) && focus->isVisible();
    };
    dock->widget()->setFocus(reason);
    if (hasIt())
        return;
    for (QWidget* at = dock->nextInFocusChain(); at != dock; at = at->nextInFocusChain())
        if (dock->isAncestorOf(at) && (at->focusPolicy() & Qt::TabFocus) && at->isEnabled() && at->isVisible()) {
            at->setFocus(reason);
            if (hasIt())
                return;
        }
    dock->setFocus(reason);
}

/// True if the widget is in a dock behind another tab, or in a collapsed part of a splitter: Qt moves them outside the
/// window but keeps them visible.
bool isMovedAway(const QWidget* widget)
{
    for (; widget && !widget->isWindow(); widget = widget->parentWidget())
        if ((qobject_cast<const QDockWidget*>(widget) || qobject_cast<const QSplitter*>(widget->parentWidget())) &&
            widget->visibleRegion().isEmpty())
            return true;
    return false;
}

bool takesTab(const QWidget* widget, const QWidget* window)
{
    return (widget->focusPolicy() & Qt::TabFocus) && widget->isEnabled() && widget->isVisibleTo(window) &&
           widget->window() == window && !isMovedAway(widget);
}

QWidget* neighbour(QWidget* of, bool next)
{
    return next ? of->nextInFocusChain() : of->previousInFocusChain();
}

/// Centred over the window and large enough to read; at its docked position, floating would be hard to notice.
void placeFloating(QDockWidget* dock, const QRect& window)
{
    QRect place(QPoint(), dock->size().expandedTo({window.width() / 2, window.height() / 2}));
    place.moveCenter(window.center());
    dock->setGeometry(place);
}

} // namespace

bool isSeen(const QWidget* widget)
{
    if (!widget->isVisible())
        return false;
    if (!widget->visibleRegion().isEmpty())
        return true;
    const auto children = widget->findChildren<QWidget*>(Qt::FindDirectChildrenOnly);
    return std::any_of(children.begin(), children.end(), [](const QWidget* child) { return isSeen(child); });
}

Dock::Dock(const QString& title, QWidget* parent) : QDockWidget(title, parent) {}

void Dock::leaveTitleToTab()
{
    if (!titleBarWidget())
        setTitleBarWidget(new DockTitle(this));
}

void Dock::paintEvent(QPaintEvent* event)
{
    QDockWidget::paintEvent(event);
    if (!isFloating() || !titleBarWidget()) // Qt's own title bar already draws it
        return;
    QStyleOptionFrame option;
    option.initFrom(this);
    QStylePainter(this).drawPrimitive(QStyle::PE_FrameDockWidget, option);
}

void addTabOverflow(QTabBar* tabs)
{
    if (!tabs->findChild<QToolButton*>("allTabs", Qt::FindDirectChildrenOnly))
        new TabOverflow(tabs);
}

DockController::DockController(QMainWindow* window, std::function<void()> fallback)
    : QObject(window), m_window(window), m_fallback(std::move(fallback)), m_float(new QAction(this)),
      m_close(new QAction(this))
{
    m_float->setObjectName("floatPanel");
    m_float->setShortcut(Qt::CTRL | Qt::SHIFT | Qt::Key_D);
    m_close->setObjectName("closePanel");
    m_close->setShortcut(Qt::CTRL | Qt::Key_W);
    connect(m_float, &QAction::triggered, this, &DockController::toggleFloating);
    connect(m_close, &QAction::triggered, this, &DockController::closeCurrent);
    connect(qApp, &QApplication::focusChanged, this, [this](QWidget*, QWidget* now) { follow(now); });
    showState();
}

void DockController::addTo(QMenu* menu, const std::vector<QDockWidget*>& docks)
{
    for (QDockWidget* dock : docks) {
        QAction* shown = dock->toggleViewAction();
        menu->addAction(shown);
        connect(shown, &QAction::triggered, this, [this, dock](bool on) {
            if (on)
                reveal(dock);
            else if (dock == m_current)
                m_fallback();
        });
        connect(dock, &QDockWidget::topLevelChanged, this, &DockController::showState);
        connect(dock, &QDockWidget::visibilityChanged, this, &DockController::showState);
    }
    menu->addSeparator();
    menu->addActions({m_float, m_close});
}

void DockController::reveal(QDockWidget* dock)
{
    dock->show();
    dock->raise();
    if (dock->isFloating())
        dock->activateWindow();
    focusInside(dock, Qt::ShortcutFocusReason);
}

void DockController::follow(QWidget* focus)
{
    // Actions in menus and the toolbar apply to the previously focused panel.
    if (!focus || nearest<QMenuBar>(focus) || nearest<QMenu>(focus) || nearest<QToolBar>(focus))
        return;
    auto* dock = nearest<QDockWidget>(focus);
    m_current = dock && dock->parentWidget() == m_window ? dock : nullptr;
    showState();
}

void DockController::showState()
{
    const bool any = m_current && !m_current->isHidden();
    const QString name = any ? QString(m_current->windowTitle()).replace('&', "&&") : QString();
    m_float->setEnabled(any);
    m_float->setText(!any                      ? tr("&Float the focused panel")
                     : m_current->isFloating() ? tr("&Dock %1").arg(name)
                                               : tr("&Float %1").arg(name));
    m_close->setEnabled(any);
    m_close->setText(any ? tr("&Close %1").arg(name) : tr("&Close the focused panel"));
}

void DockController::toggleFloating()
{
    if (!m_current)
        return;
    QDockWidget* dock = m_current;
    QWidget* had = dock->focusWidget();
    const QRect docked(dock->mapToGlobal(QPoint()), dock->size());
    dock->setFloating(!dock->isFloating());
    if (!dock->isFloating())
        m_window->activateWindow();
    else if (dock->geometry().topLeft() == docked.topLeft()) // otherwise it was floating and is docked again
        placeFloating(dock, m_window->geometry());
    reveal(dock);
    if (had && dock->isAncestorOf(had) && had->isVisible())
        had->setFocus(Qt::OtherFocusReason);
}

void DockController::closeCurrent()
{
    if (!m_current)
        return;
    QDockWidget* dock = std::exchange(m_current, nullptr);
    const QList<QDockWidget*> beside = dock->isFloating() ? QList<QDockWidget*>() : m_window->tabifiedDockWidgets(dock);
    dock->close();
    // The dock whose tab is now in front takes the focus, after pending layout events.
    m_window->activateWindow();
    QMetaObject::invokeMethod(
        this,
        [this, beside] {
            const auto next = std::find_if(beside.begin(), beside.end(), isSeen);
            if (next != beside.end())
                focusInside(*next, Qt::OtherFocusReason);
            else
                m_fallback();
            showState();
        },
        Qt::QueuedConnection);
}

bool DockController::moveFocus(QWidget* window, bool next)
{
    QWidget* const from = window->focusWidget() ? window->focusWidget() : window;
    for (QWidget* at = neighbour(from, next); at && at != from; at = neighbour(at, next)) {
        // A widget with a focus proxy is represented by its proxy.
        if (at->focusProxy() || !takesTab(at, window))
            continue;
        at->setFocus(next ? Qt::TabFocusReason : Qt::BacktabFocusReason);
        if (window->focusWidget() != from)
            return true;
    }
    return false;
}

} // namespace app
