#pragma once

#include "app/window/main_window.h"

#include <QString>
#include <chrono>
#include <functional>

namespace ui {

/// Sets the app's names, so that the program finds the app's settings; call it before the QApplication is created.
void beTheApplication();
/// @param text  WIDTHxHEIGHT; anything else ends the program with a message
QSize sizeOf(const QString& text);

/// Drives the real app on its own screen and takes screenshots in both themes. Exits with a message if something is
/// missing or does not appear in time.
class Photographer {
public:
    /// Shows the window and waits until it is complete.
    /// @param folder  for the screenshots
    Photographer(QString folder, QSize size);

protected:
    void await(const char* what, const std::function<bool()>& condition,
               std::chrono::milliseconds patience = std::chrono::minutes(3));
    /// The trace on screen is analysed.
    void awaitAnalysis();
    /// Brings a dock to the front.
    /// @param view  its folder under app/views
    void raise(const QString& view);
    /// Writes FOLDER/NAME_dark.png and FOLDER/NAME_light.png.
    /// @param widget  null: the window
    void take(const QString& name, QWidget* widget = nullptr);

    QString m_folder;
    app::Appearance m_appearance;
    app::Workbench m_bench;
    app::MainWindow m_window;
};

} // namespace ui
