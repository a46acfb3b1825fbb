#pragma once

#include <QObject>
#include <QPointer>
#include <functional>
#include <vector>

class QAction;
class QDockWidget;
class QMainWindow;
class QMenu;
class QWidget;

namespace app {

/// Keyboard control of the docks: show and hide each dock, and float, dock and close the focused one. The focus never
/// stays in a hidden widget. GUI thread.
class DockController : public QObject {
    Q_OBJECT
public:
    /// @param fallback  focuses the visible widget in the centre of the window if no dock takes the focus
    DockController(QMainWindow* window, std::function<void()> fallback);

    /// Actions for the View menu: one per dock in order, then those for the focused dock.
    void addTo(QMenu* menu, const std::vector<QDockWidget*>& docks);
    /// Shows the dock in front of its tabs and focuses it.
    static void reveal(QDockWidget* dock);
    /// Moves the focus as Tab does. Qt's default chain includes docks hidden behind another tab and can get stuck in
    /// them.
    /// @return false if no other widget takes the focus
    static bool moveFocus(QWidget* window, bool next);

private:
    void follow(QWidget* focus);
    void showState();
    void toggleFloating();
    void closeCurrent();

    QMainWindow* m_window;
    std::function<void()> m_fallback;
    QAction *m_float, *m_close;
    QPointer<QDockWidget> m_current; ///< it has the focus, or had it before a menu was opened
};

} // namespace app
