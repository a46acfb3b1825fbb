#include "app/look/visibility_watcher.h"

#include <QEvent>

namespace app {

VisibilityWatcher::VisibilityWatcher(QWidget* widget) : QObject(widget), m_widget(widget)
{
    widget->installEventFilter(this);
    // While docks are created and arranged, each is in front briefly.
    m_tell.setSingleShot(true);
    m_tell.setInterval(0);
    connect(&m_tell, &QTimer::timeout, this, [this] {
        if (isInFront())
            emit cameToFront();
    });
}

bool VisibilityWatcher::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == m_widget && event->type() == QEvent::Show) {
        findDock();
        m_tell.start();
    }
    return QObject::eventFilter(watched, event);
}

void VisibilityWatcher::findDock()
{
    QDockWidget* dock = nullptr;
    for (QWidget* above = m_widget->parentWidget(); above && !dock; above = above->parentWidget())
        dock = qobject_cast<QDockWidget*>(above);
    if (dock == m_dock)
        return;
    if (m_dock)
        m_dock->disconnect(this);
    m_dock = dock;
    m_dockInFront = true;
    if (!dock)
        return;
    // A dock behind a tab is positioned above and to the left of the window.
    m_dockInFront = dock->isFloating() || (dock->geometry().right() >= 0 && dock->geometry().bottom() >= 0);
    connect(dock, &QDockWidget::visibilityChanged, this, [this](bool inFront) {
        m_dockInFront = inFront || m_dock->isFloating(); // on a screen to the left of the primary one, Qt considers it
                                                         // hidden
        if (m_dockInFront)
            m_tell.start();
    });
}

} // namespace app
