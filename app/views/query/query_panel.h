#pragma once

#include "app/services/background.h"
#include "profiler/query/query.h"

#include <QStringList>
#include <QWidget>
#include <memory>

class QAction;
class QLabel;
class QMenu;
class QStackedWidget;
class QTableView;
class QToolButton;

namespace app {

class Notices;
class ResultModel;
class SqlEditor;
class TraceDocument;

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
    void take(std::shared_ptr<const profiler::query::ResultTable> table, std::shared_ptr<const profiler::Trace> trace);
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
