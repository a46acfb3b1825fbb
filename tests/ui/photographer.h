#pragma once

#include "app/main_window.h"

#include <QString>
#include <chrono>
#include <functional>

namespace ui {

/// Gives the program the app's names, so that it finds the app's settings; before its QApplication is made.
void beTheApplication();
/// @param text  WIDTHxHEIGHT; anything else ends the program with a message
QSize sizeOf(const QString& text);

/// The real app on a screen of its own, driven by hand-written steps and photographed in both themes. Whatever does not
/// come in time, or is not there, ends the program with a message.
class Photographer {
public:
    /// Shows the window and waits until it is complete. @param folder  for the pictures
    Photographer(QString folder, QSize size);

protected:
    void await(const char* what, const std::function<bool()>& condition,
               std::chrono::milliseconds patience = std::chrono::minutes(3));
    /// The trace on screen is analysed.
    void awaitAnalysis();
    /// Brings a dock of the window to the front. @param view  its folder under app/views
    void raise(const QString& view);
    /// FOLDER/NAME_dark.png and FOLDER/NAME_light.png. @param widget  null: the window
    void take(const QString& name, QWidget* widget = nullptr);

    QString m_folder;
    app::Appearance m_appearance;
    app::Session m_session;
    app::Selection m_selection;
    app::MainWindow m_window;
};

} // namespace ui
