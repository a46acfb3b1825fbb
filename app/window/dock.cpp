#include "app/window/dock.h"

#include "app/look/icon.h"

#include <QHBoxLayout>
#include <QStyle>
#include <QStyleOptionDockWidget>
#include <QStylePainter>
#include <QToolButton>
#include <algorithm>

#include <functional>

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

} // namespace app
