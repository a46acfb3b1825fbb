#pragma once

#include <QDockWidget>
#include <QPointer>
#include <QTimer>
#include <QWidget>

namespace app {

/// Whether a widget can be seen: it is shown, and the dock that it lies in, if any, is not behind another's tab. Qt
/// keeps the docks behind a tab visible and moves them out of the window, so that isVisible() alone does not tell. GUI
/// thread; lives with the widget.
class VisibilityWatcher : public QObject {
    Q_OBJECT
public:
    explicit VisibilityWatcher(QWidget* widget);

    [[nodiscard]] bool isInFront() const { return m_widget->isVisible() && m_dockInFront; }

signals:
    /// It can be seen now, and could not before or was shown anew. Comes from the event loop, once docks have settled.
    void cameToFront();

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void findDock();

    QWidget* m_widget;
    QPointer<QDockWidget> m_dock;
    bool m_dockInFront = true;
    QTimer m_tell;
};

} // namespace app
