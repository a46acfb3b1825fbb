#pragma once

#include <QMainWindow>

namespace app {

/// The one window: a workbench of views around one session.
class MainWindow : public QMainWindow {
    Q_OBJECT
public:
    using QMainWindow::QMainWindow;
};

} // namespace app
