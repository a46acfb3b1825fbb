#pragma once

#include "app/look/theme.h"
#include "app/services/background.h"
#include "app/window/workbench.h"

#include <QMainWindow>

namespace app {

class DockLayout;
class LoadingBar;
class NoticeStrip;
class WindowActions;
class WindowDialogs;

/// The main window of one workbench: it composes the views, the actions and the dialogs, and decides when it may close.
/// It first paints its toolbar and start page and creates the docks afterwards.
class MainWindow : public QMainWindow {
    Q_OBJECT
public:
    /// Both must outlive the window.
    MainWindow(Workbench* bench, Appearance* appearance);

    /// True when the docks and the central views exist.
    [[nodiscard]] bool isComplete() const { return m_complete; }

    /// Closes the window as if the user had chosen Stop and close: stops what is running and keeps what was recorded.
    void closeUnasked();

signals:
    void firstPainted();
    void completed();

protected:
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    bool focusNextPrevChild(bool next) override;
    void closeEvent(QCloseEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;

private:
    void makeCentre();
    void complete();
    void connectWorkbench();
    void showTitle();
    void tellTuned();
    bool mayClose();
    void goOnClosing();
    void openDropped(const QString& file);

    Workbench* m_bench;
    Appearance* m_appearance;
    DockLayout* m_layout;
    WindowDialogs* m_dialogs;
    WindowActions* m_actions;
    NoticeStrip* m_notice = nullptr;
    LoadingBar* m_loading = nullptr;
    bool m_painted = false, m_complete = false, m_closing = false;
    Background m_dropped{this}; ///< finds out what a dropped file is
    bool m_unasked = false;     ///< close without asking: the request came from outside
};

} // namespace app
