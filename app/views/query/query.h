#pragma once

#include "app/services/background.h"
#include "profiler/query/query.h"

#include <QAbstractTableModel>
#include <QStringList>
#include <QWidget>
#include <memory>
#include <optional>
#include <vector>

class QAction;
class QLabel;
class QMenu;
class QStackedWidget;
class QTableView;
class QToolButton;

/// The view of SQL queries and the model of their results.
namespace app {

class Notices;
class SqlEditor;
class TraceDocument;

/// The result of a query as a table. Values are formatted when they are displayed, so a million rows cost nothing.
class ResultModel : public QAbstractTableModel {
    Q_OBJECT
public:
    using QAbstractTableModel::QAbstractTableModel;

    /// @param begin  start of the trace, from which positions in time are shown
    void show(std::shared_ptr<const profiler::query::ResultTable> table, profiler::TraceTime begin);
    [[nodiscard]] const std::shared_ptr<const profiler::query::ResultTable>& table() const { return m_table; }

    /// The slice that a row is about: the first column with ids of slices.
    [[nodiscard]] std::optional<std::int64_t> sliceKey(int row) const;
    /// The time that a row is about: its first position in time, and its duration or its next position.
    [[nodiscard]] std::optional<profiler::TimeRange> range(int row) const;

    /// Exact values as text: all rows, or some of them.
    [[nodiscard]] QString csv(const std::vector<int>& rows, QChar separator) const;

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    [[nodiscard]] const profiler::query::Value& value(int row, int column) const;
    [[nodiscard]] std::optional<std::int64_t> integer(int row, int column) const;
    [[nodiscard]] QString cellText(int row, int column) const;

    std::shared_ptr<const profiler::query::ResultTable> m_table;
    profiler::TraceTime m_begin{};
    std::vector<bool> m_isNumeric; ///< by column: right-aligned
};

/// SQL over the trace on screen. A row of the result selects its slice or its time on the timeline. Queries run in the
/// background; the text and the history are kept across a restart.
class QueryPanel : public QWidget {
    Q_OBJECT
public:
    /// Both must outlive the panel.
    QueryPanel(TraceDocument* document, Notices* notices, QWidget* parent);
    ~QueryPanel() override;

    /// Runs the statement in the editor; a running one is cancelled.
    void run();
    [[nodiscard]] bool isRunning() const { return m_isRunning; }
    [[nodiscard]] ResultModel* result() const { return m_model; }

private:
    QWidget* makeBar();
    QWidget* makeResult();
    QMenu* makeExamples();
    void makeResultActions();
    void listHistory();
    void load(const QString& sql);
    void remember(const QString& sql);
    void replaceTrace();
    void take(const std::shared_ptr<const profiler::query::ResultTable>& table,
              std::shared_ptr<const profiler::Trace> trace);
    void fail(const profiler::Error& error, const QString& sql);
    void setRunning(bool on);
    void showEmpty();
    void showMessage(const QString& html);
    void chooseRow(int row);
    void markRows();
    void copy(bool all);
    void save();
    [[nodiscard]] bool hasCurrentIds() const;

    TraceDocument* m_document;
    Notices* m_notices;
    SqlEditor* m_editor;
    ResultModel* m_model;
    QTableView* m_table = nullptr;
    QStackedWidget* m_pages = nullptr;
    QLabel *m_message = nullptr, *m_status = nullptr;
    QToolButton *m_run = nullptr, *m_cancel = nullptr, *m_mark = nullptr;
    QAction *m_copy = nullptr, *m_copyAll = nullptr, *m_save = nullptr;
    QMenu* m_historyMenu = nullptr;
    QStringList m_history;                                ///< newest first
    std::shared_ptr<const profiler::Trace> m_resultTrace; ///< the trace of the result
    bool m_isRunning = false;
    Background m_query{this};
};

} // namespace app
