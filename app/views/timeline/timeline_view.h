#pragma once

#include "app/document/selection.h"
#include "app/document/trace_summary.h"
#include "app/tables/table_field.h"
#include "app/timeline_tools/timeline_bookmarks.h"
#include "profiler/model/trace.h"

#include <QDialog>
#include <QWidget>
#include <filesystem>
#include <memory>

class QLabel;

namespace app {

class CaptureNotice;
class TimelineCanvas;
class TimelineMinimap;
class TimelineSearch;

/// The timeline with a notice about missing data, the overview strip of the whole trace, and the search bar; linked to
/// the shared selection.
class TimelineView : public QWidget {
    Q_OBJECT
public:
    explicit TimelineView(Selection* selection, BookmarkStore bookmarks, QWidget* parent = nullptr);

    /// Shows a different trace.
    /// @param file  its file; empty: none
    void replaceTrace(std::shared_ptr<const profiler::Trace> trace, const std::filesystem::path& file = {});
    /// Sets a later snapshot of the same trace.
    void updateTrace(std::shared_ptr<const profiler::Trace> trace);
    /// The analysed steps of the trace on screen; null: unknown.
    void showSteps(std::shared_ptr<const Steps> steps);
    /// The analysed idle intervals of the devices; null: unknown.
    void showGaps(std::shared_ptr<const DeviceGaps> gaps);
    [[nodiscard]] TimelineCanvas* canvas() const { return m_canvas; }
    /// Shows the name of the trace above the timeline, to distinguish it from a second one; empty: hidden.
    /// @param isActive  the commands of the menus act on this timeline
    void setName(const QString& name, bool isActive = true);

    /// Opens the search bar.
    void openFind();
    /// Goes to typed text: "1.25 s", "340 ms", "step 12". Otherwise returns an error message.
    QString goTo(const QString& text);

signals:
    /// @param text  bookmarks of the trace on screen, in the format of BookmarkStore::toText()
    void bookmarksChanged(const QByteArray& text);
    /// A notice for the user.
    void noticed(const QString& what, const QString& detail, bool isError);

private:
    void connectSelection();
    void connectMarks();
    void watchReading();
    void takeSelection();
    void takeRowLayout(const profiler::Trace& trace);
    void keepRowLayout() const;
    void copyPicture() const;
    void savePicture();

    Selection* m_selection;
    QLabel* m_name;
    CaptureNotice* m_notice;
    TimelineMinimap* m_minimap;
    TimelineCanvas* m_canvas;
    TimelineSearch* m_search;
    TimelineBookmarks* m_bookmarks;
    QString m_rowsKey; ///< settings key for the row layout of this kind of trace
};

/// All keyboard shortcuts of the timeline by topic, generated from its actions.
class KeySheet : public QDialog {
    Q_OBJECT
public:
    KeySheet(const TimelineCanvas& canvas, QWidget* parent);
};

} // namespace app
