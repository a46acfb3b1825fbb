#pragma once

#include <QDockWidget>
#include <QObject>
#include <QPointer>
#include <functional>
#include <vector>

class QAction;
class QMainWindow;
class QMenu;
class QTabBar;
class QWidget;

/// The panels around the timeline: their frame and title, the menu of their tabs, and their keyboard control.
namespace app {

/// True if at least a part of the widget, or of a widget in it, is on screen and not behind another tab. The visible
/// region of a widget does not include what opaque children cover.
bool isSeen(const QWidget* widget);

/// A panel of the window. A floating panel draws its own border.
class Dock : public QDockWidget {
    Q_OBJECT
public:
    Dock(const QString& title, QWidget* parent);

    /// Title bar of a tabbed dock, whose tab shows the title: visible only while the dock floats, with buttons to dock
    /// and close it.
    void leaveTitleToTab();

protected:
    void paintEvent(QPaintEvent* event) override;
};

/// Adds a button to the end of a tab bar that lists all of its tabs in a menu. It is visible while the tabs do not fit
/// and scroll. Its place is reserved by Style, see kTabMenuWidth.
void addTabOverflow(QTabBar* tabs);

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
