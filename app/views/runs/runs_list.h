#pragma once

#include <QTreeView>

namespace app {

class ConfigurationModel;
class RunStore;
class TraceDocument;
class RunsModel;
struct RunRecord;

/// The kept runs: double click or Enter opens a run, Del deletes it; other actions are in its context menu.
class RunsList : public QTreeView {
    Q_OBJECT
public:
    RunsList(RunStore* runs, ConfigurationModel* configuration, TraceDocument* document, QWidget* parent);

protected:
    bool event(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

private:
    void showRuns();
    void open(const RunRecord& run);
    void remove(const RunRecord& run);

    RunStore* m_runs;
    ConfigurationModel* m_configuration;
    TraceDocument* m_document;
    RunsModel* m_model;
};

} // namespace app
