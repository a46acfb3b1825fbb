#pragma once

#include "app/look/appearance.h"
#include "app/views/view.h"
#include "app/window/workbench.h"

#include <QMainWindow>
#include <vector>

class QLabel;
class QSplitter;
class QStackedWidget;

namespace app {

class Dock;
class DockController;
class LoadingBar;
class NoticeStrip;
class RecordDialog;
class StatusLine;

/// The main window: the views of one workbench. It first paints its toolbar and start page and creates
/// the docks afterwards.
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
    // main_window.cpp
    void makeCentre();
    void complete();
    void connectWorkbench();
    void showStartPage(bool start);
    void updateForTrace();
    bool mayClose();
    void goOnClosing();
    void tellTuned();
    void askForCopy(const QString& folder, const QString& why);

    // main_window_actions.cpp
    void makeActions();
    void makeMenus();
    void makeToolBar();
    void makeViewMenu();
    void makeGoToMenu();
    void addViewActions(QWidget* view, const QString& title);
    void updateActions();
    void openTraceDialog();
    void exportTraceDialog();
    void saveReportDialog();
    void showTune();
    void fillRecentMenu();
    void openFile(const QString& file);
    void recordProgram();
    void openConfigurationDialog();
    void saveConfigurationDialog();
    void showAbout();

    // main_window_docks.cpp
    void makeViews();
    void addDock(const View& view, QWidget* widget);
    void arrangeDocks();
    void hideDocksForStart();
    void showHiddenDocks();
    void focusCentre();
    void restoreLayout();
    void saveLayout();
    void resetLayout();

    struct Actions {
        QAction *start, *pause, *stop, *undo, *redo, *openTrace, *record, *exportTrace, *openConfiguration,
            *saveConfiguration, *home, *quit, *findKnob, *tune, *saveReport;
    };

    Workbench* m_bench;
    Appearance* m_appearance;
    Actions m_actions{};
    bool m_painted = false, m_complete = false, m_closing = false;
    bool m_unasked = false; ///< close without asking: the request came from outside
    QStackedWidget* m_stack = nullptr;
    QSplitter* m_centre = nullptr;
    QWidget* m_start = nullptr;
    NoticeStrip* m_notice = nullptr;
    LoadingBar* m_loading = nullptr;
    StatusLine* m_status = nullptr;
    DockController* m_dockController = nullptr; ///< created with the docks
    RecordDialog* m_record = nullptr;           ///< created on first use
    QLabel* m_runLabel = nullptr;
    QMenu *m_viewMenu = nullptr, *m_recentMenu = nullptr;
    std::vector<std::pair<View, Dock*>> m_docks;
    std::vector<QDockWidget*> m_hiddenForStart;
    QByteArray m_defaultLayout;
};

} // namespace app
