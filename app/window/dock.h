#pragma once

#include <QDockWidget>

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

} // namespace app
