#include "app/widgets/visibility_watcher.h"

#include <QEvent>

namespace app {

VisibilityWatcher::VisibilityWatcher(QWidget* widget) : QObject(widget), m_widget(widget)
{
    widget->installEventFilter(this);
    // While docks are made and arranged, each is in front for a moment.
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
    // Behind a tab, it lies left of the window and above it.
    m_dockInFront = dock->isFloating() || (dock->geometry().right() >= 0 && dock->geometry().bottom() >= 0);
    connect(dock, &QDockWidget::visibilityChanged, this, [this](bool inFront) {
        m_dockInFront = inFront || m_dock->isFloating(); // on a screen left of the first, Qt takes it for hidden
        if (m_dockInFront)
            m_tell.start();
    });
}

} // namespace app
