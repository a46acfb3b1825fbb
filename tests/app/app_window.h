#pragma once

#include "app/window/main_window.h"

#include <QTest>

namespace app_test {

/// A complete app window, already painted.
struct App {
    explicit App(QSize size = {1440, 900}) : window(&bench, &appearance)
    {
        window.resize(size);
        window.show();
        if (!QTest::qWaitFor([this] { return window.isComplete(); }, 30'000))
            qFatal("the window was not complete in time");
    }
    app::Appearance appearance;
    app::Workbench bench;
    app::MainWindow window;
};

} // namespace app_test
