#include "app/window/tab_overflow.h"

#include "app/look/style.h"

#include <QAction>
#include <QEvent>
#include <QMenu>
#include <QTabBar>
#include <QToolButton>

namespace app {

namespace {

constexpr int kWidth = 24; ///< logical pixels

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
    tabs->setProperty(kTabMenuWidth, kWidth);
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
                                   {m_tabs->width() - kWidth, 0, kWidth, m_tabs->height()}));
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

} // namespace

void addTabOverflow(QTabBar* tabs)
{
    if (!tabs->findChild<QToolButton*>("allTabs", Qt::FindDirectChildrenOnly))
        new TabOverflow(tabs);
}

} // namespace app
