#pragma once

#include "app/document/session.h"

#include <QTreeView>

namespace app {

class RunsModel;

/// The kept runs: double click or Enter opens a run, Del deletes it; other actions are in its context menu.
class RunsList : public QTreeView {
    Q_OBJECT
public:
    RunsList(Session* session, QWidget* parent);

protected:
    bool event(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

private:
    void showRuns();
    void remove(const RunRecord& run);

    Session* m_session;
    RunsModel* m_model;
};

} // namespace app
