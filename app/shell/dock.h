#pragma once

#include <QDockWidget>

namespace app {

/// A panel of the window. Floating it has an edge of its own.
class Dock : public QDockWidget {
    Q_OBJECT
public:
    Dock(const QString& title, QWidget* parent);

    /// For one behind a tab, which says the title: no line for it but while it floats, with buttons that put it back
    /// and close it.
    void leaveTitleToTab();

protected:
    void paintEvent(QPaintEvent* event) override;
};

} // namespace app
