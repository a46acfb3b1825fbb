#pragma once

#include "app/views/view.h"

#include <QByteArray>
#include <QObject>
#include <QTimer>
#include <map>
#include <optional>
#include <vector>

class QDockWidget;
class QMainWindow;
class QSplitter;
class QStackedWidget;

namespace app {

class Dock;

/// What the window shows. Each kind has its own layout.
enum class DocumentKind {
    Start,    ///< the start page
    Trace,    ///< an opened trace
    Training, ///< a training of ours, or its configuration
    Program,  ///< a recorded program
    Job,      ///< a job, and the trace of one of its ranks
};

/// The kind of the document of a window, whether or not the start page hides it.
[[nodiscard]] DocumentKind kindOfDocument(const Workbench& bench);

/// The views of the window and their arrangement: the start page, or the central views with docks around them. The
/// layout is saved for each kind of document. GUI thread.
class DockLayout : public QObject {
    Q_OBJECT
public:
    struct PlacedView {
        View view;
        QWidget* widget = nullptr;
        Dock* dock = nullptr; ///< null for a central view
    };

    /// Creates the start page only. Both must outlive the layout.
    DockLayout(Workbench* bench, QMainWindow* window);

    /// The widget for the centre of the window: the start page, or the central views.
    [[nodiscard]] QWidget* centre() const;
    /// Creates the other views from the registry. Call once, when the window is visible.
    void makeViews();
    [[nodiscard]] const std::vector<PlacedView>& views() const { return m_views; }

    /// Saves the current layout and restores that of another kind of document. Nothing happens before makeViews().
    void show(DocumentKind kind);
    /// The same for the document of the window.
    void showDocument();
    /// None before makeViews().
    [[nodiscard]] std::optional<DocumentKind> shown() const { return m_shown; }
    /// Focuses the start page or the timeline.
    void focusCentre();
    /// Shows a view in front of its tabs and focuses it; leaves the start page if there is a document.
    void reveal(const PlacedView& view);
    /// The same for the view with this stem, such as "tune".
    void reveal(const QString& stem);

    /// Only the timeline is visible: the docks and the other central views are hidden.
    [[nodiscard]] bool isMaximized() const { return m_beforeMaximized.has_value(); }
    /// Leaving the maximized state restores the earlier layout exactly. The start page has no timeline to maximize.
    void setMaximized(bool on);
    /// True if a docked panel of the area is visible.
    [[nodiscard]] bool isAreaShown(Qt::DockWidgetArea area) const;
    /// Hides the docked panels of an area, or shows those that were hidden.
    void setAreaShown(Qt::DockWidgetArea area, bool on);
    /// Gives the panels at the bottom half of the window, or their earlier height. Nothing happens for other panels.
    /// @param title  of one of them
    void toggleTall(const QString& title);
    /// A central view other than the timeline takes space.
    [[nodiscard]] bool isOpen(const QWidget* centralView) const;
    void setOpen(const QWidget* centralView, bool on);

    /// Shows the timeline of a second trace below the first, with the same height, and what differs between the traces;
    /// or hides both and restores the earlier layout. The layout with a second trace is not saved.
    void setSecondShown(bool on);

    void restoreGeometry();
    void save();
    /// Restores the default layout of the current kind of document.
    void reset();

signals:
    /// A dock was shown or hidden, the timeline was maximized, or another kind of document is shown.
    void changed();

private:
    struct Saved {
        QByteArray docks, centre;
    };
    void addDock(const View& view, QWidget* widget);
    void watch(Dock* dock);
    void setUpCorners();
    void apply(DocumentKind kind);
    void arrangeDefault(DocumentKind kind);
    void fitWidth();
    void openCentralViews(int stripHeight);
    void shareWithSecond();
    void makeRoomFor(Qt::DockWidgetArea area);
    [[nodiscard]] Saved current() const;
    [[nodiscard]] bool restore(const Saved& saved);
    [[nodiscard]] std::vector<QDockWidget*> docksIn(Qt::DockWidgetArea area) const;

    Workbench* m_bench;
    QMainWindow* m_window;
    QStackedWidget* m_stack;
    QSplitter* m_centre;
    QWidget* m_start = nullptr;
    QWidget* m_timeline = nullptr;
    QWidget* m_second = nullptr;  ///< the timeline of a second trace; hidden if there is none
    Dock* m_difference = nullptr; ///< what differs between both traces
    Dock* m_job = nullptr;        ///< the ranks of a job
    std::vector<PlacedView> m_views;
    std::optional<DocumentKind> m_shown;
    QByteArray m_allDocks; ///< layout with all docks at their default places
    QTimer m_tell;
    int m_lowHeight = 0;                               ///< of the panels at the bottom before toggleTall(); 0: never
    int m_version = 0;                                 ///< of layouts with these docks
    std::optional<Saved> m_beforeMaximized;            ///< none: not maximized
    std::optional<Saved> m_beforeSecond;               ///< none: no second trace is shown
    std::map<int, std::vector<QDockWidget*>> m_hidden; ///< by area: the docks that setAreaShown() has hidden
};

} // namespace app
