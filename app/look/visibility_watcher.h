#pragma once

#include <QDockWidget>
#include <QPointer>
#include <QTimer>
#include <QWidget>

namespace app {

/// Tells whether a widget is visible to the user: it is shown, and its dock, if any, is not behind another tab. Qt
/// keeps docks behind a tab visible and moves them out of the window, so isVisible() is not enough. GUI thread; owned
/// by the widget.
class VisibilityWatcher : public QObject {
    Q_OBJECT
public:
    explicit VisibilityWatcher(QWidget* widget);

    [[nodiscard]] bool isInFront() const { return m_widget->isVisible() && m_dockInFront; }

signals:
    /// The widget became visible or was shown again. Emitted from the event loop after the docks have settled.
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
