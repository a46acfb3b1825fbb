#pragma once

#include "app/document/session.h"

#include <QWidget>
#include <filesystem>

class QPushButton;

namespace app {

class PlaceList;

/// The page without a trace: try an example, open a trace, record a program; recent runs, recent traces, and samples.
/// Esc returns to the trace on screen.
class StartPage : public QWidget {
    Q_OBJECT
public:
    StartPage(Session* session, QWidget* parent);

protected:
    void showEvent(QShowEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    void tryIt();
    void chooseTrace();
    void recordProgram();
    void open(const std::filesystem::path& trace);
    void leave();
    void showRuns();
    void showTraces();
    void showSamples();
    void showBusy();

    Session* m_session;
    QPushButton* m_tryIt = nullptr;
    PlaceList *m_runs = nullptr, *m_traces = nullptr, *m_samples = nullptr;
};

} // namespace app
