#pragma once

#include "app/document/selection.h"
#include "app/look/visibility_watcher.h"
#include "app/services/background.h"
#include "app/tables/table_query.h"
#include "app/tables/table_rows.h"

#include <QElapsedTimer>
#include <QTimer>
#include <QWidget>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

class QAction;
class QLabel;
class QStackedLayout;

namespace app {

class Notices;
class TableBar;
class TableView;
class TraceDocument;

/// A table of one subject for the trace on screen, linked to the shared selection: a row selects its slice and shows it
/// on the timeline, and a slice selected in another view selects its row. It is updated only while visible, not behind
/// another tab.
class TablePanel : public QWidget {
    Q_OBJECT
public:
    TablePanel(TableSubject subject, Selection* selection, QWidget* parent);

    /// Shows a different trace and clears the rows and filters.
    void replaceTrace(std::shared_ptr<const profiler::Trace> trace);
    /// Sets a later snapshot of the same trace.
    void updateTrace(std::shared_ptr<const profiler::Trace> trace);
    void setSteps(std::shared_ptr<const Steps> steps);

    [[nodiscard]] const TableSubject& subject() const { return m_subject; }
    [[nodiscard]] TableView* view() const { return m_view; }
    [[nodiscard]] TableBar* bar() const { return m_bar; }
    /// The rows match the filter, the order and the trace.
    [[nodiscard]] bool isUpToDate() const { return !m_dirty && !m_busy; }
    /// A file is being written that would be lost if the panel were destroyed.
    [[nodiscard]] bool isSaving() const { return m_writing == Writing::File; }

signals:
    /// A notice for the user.
    void noticed(const QString& what, const QString& detail, bool isError);
    /// The last notice is about this file.
    void saved(const QString& file);

private:
    /// Background work on all rows, one task at a time.
    enum class Writing { Nothing, File, Clipboard };
    /// Runs on a background thread; the function that it returns runs on the GUI thread.
    using TableWork =
        std::function<std::function<void()>(const std::function<void(double)>& progress, const std::stop_token& stop)>;

    // The rows, and the selection.
    void request();
    void follow();
    void start(std::shared_ptr<const TableRows> sameRows);
    [[nodiscard]] TableQuery query() const;
    [[nodiscard]] QString columnsKey() const;
    void take(std::shared_ptr<const TableRows> rows, qint64 tookMs);
    void fail(const profiler::Error& error);
    void showState();
    void setOrder(const TableOrder& order);
    [[nodiscard]] std::optional<profiler::TimeRange> selectedTime() const;
    void takeSelection();
    void choose(std::size_t row);
    bool chooseSeveral();
    void showSlice(profiler::SliceId id);

    // The actions of the user.
    void makeActions();
    void showMenu(QPoint at);
    void updateActions();
    void goToOccurrence(int direction);
    void stepFrom(const TableRows& occurrences, int direction);
    [[nodiscard]] QString termsOf(std::size_t row) const;
    void listGroup();
    void filterByName();
    void copySelected(bool asCsv);
    void copyAll();
    void copy(std::vector<std::size_t> positions, TableText kind);
    void save();
    bool mayWrite();
    void write(Writing what, const TableWork& work);
    void cancelWriting();

    struct Actions {
        QAction *show, *next, *previous, *list, *filter, *find, *copy, *copyCsv, *copyAll, *save;
    };

    TableSubject m_subject;
    Selection* m_selection;
    std::shared_ptr<const profiler::Trace> m_trace;
    std::shared_ptr<const Steps> m_steps;
    std::shared_ptr<OpDeviceTimesCache> m_deviceTimes; ///< of m_trace
    TableOrder m_order;
    TableBar* m_bar;
    TableView* m_view;
    QLabel* m_empty;
    QStackedLayout* m_pages;
    Actions m_actions{};
    bool m_dirty = true, m_busy = false, m_following = false;
    bool m_cancelled = false; ///< the last query
    Writing m_writing = Writing::Nothing;
    qint64 m_lastMs = 0;
    QElapsedTimer m_sinceEnd;
    QTimer m_later;
    VisibilityWatcher m_front{this};
    std::shared_ptr<const TableRows> m_occurrences; ///< slices of the current group by start
    Background m_query{this}, m_walk{this}, m_saving{this};
};

/// Connects a panel to the document that provides its trace.
TablePanel* makeTablePanel(TableSubject subject, const TraceDocument* document, Notices* notices, QWidget* parent);

} // namespace app
