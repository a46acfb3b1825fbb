#pragma once

#include "app/services/background.h"
#include "profiler/model/trace.h"

#include <QObject>
#include <QString>
#include <memory>
#include <vector>

class QAction;
class QKeySequence;
class QLabel;
class QMainWindow;
class QMenu;

namespace app {

class Appearance;
class CommandPalette;
class DockController;
class DockLayout;
class TimelineCanvas;
class WindowDialogs;
struct PaletteEntry;
struct Workbench;

/// The actions of the window: menus, toolbar and command palette, and when each action is enabled. GUI thread.
class WindowActions : public QObject {
    Q_OBJECT
public:
    /// All must outlive the actions.
    WindowActions(Workbench* bench, Appearance* appearance, QMainWindow* window, DockLayout* layout,
                  WindowDialogs* dialogs);

    /// Adds the menus of the views. Call after DockLayout::makeViews().
    void addViews();
    /// Enables the actions that are possible now.
    void update();
    /// A second trace can be opened beside the one on screen.
    [[nodiscard]] bool canOpenBeside() const;
    /// Shows the run on screen in the toolbar.
    void showRun(const QString& text, const QString& toolTip);

private:
    void makeActions();
    void makeLayoutActions();
    QAction* make(const QString& name, const QString& iconStem, const QString& text, const QKeySequence& key);
    void makeMenus();
    void makeToolBar();
    void makeGoToMenu();
    void makeThemeMenu();
    void addViewMenu(QWidget* view, const QString& title);
    void makeTimelineMenu(const QString& title);
    void fillTimelineMenu();
    void showTimelineName();
    void showLayoutState();
    void fillRecentMenu();
    void findSetting(const QString& text);
    [[nodiscard]] TimelineCanvas* activeTimeline() const;
    void findSlices(const QString& name);
    void openPalette();
    void readSliceNames();
    [[nodiscard]] std::vector<PaletteEntry> sliceEntries();

    struct Actions {
        QAction *start, *pause, *stop, *undo, *redo, *openTrace, *openRemote, *openJob, *openBeside, *closeBeside,
            *record, *exportTrace, *openConfiguration, *saveConfiguration, *home, *quit, *findKnob, *tune, *saveReport,
            *palette, *maximize, *leftPanels, *bottomPanels, *rightPanels, *help;
    };

    Workbench* m_bench;
    Appearance* m_appearance;
    QMainWindow* m_window;
    DockLayout* m_layout;
    WindowDialogs* m_dialogs;
    Actions m_actions{};
    QMenu *m_viewMenu = nullptr, *m_recentMenu = nullptr, *m_timelineMenu = nullptr;
    QAction* m_timelineName = nullptr; ///< the heading of m_timelineMenu while two traces are open
    QLabel* m_runLabel = nullptr;
    DockController* m_dockController = nullptr;            ///< created with the views
    std::vector<std::pair<QAction*, QWidget*>> m_strips;   ///< actions that open the central views
    CommandPalette* m_palette = nullptr;                   ///< created on first use
    std::shared_ptr<const profiler::Trace> m_named;        ///< the trace of m_sliceNames
    std::vector<std::pair<QString, quint64>> m_sliceNames; ///< with the number of slices
    Background m_reading{this};
};

} // namespace app
