#pragma once

#include <QWidget>
#include <filesystem>

class QLabel;
class QPushButton;

namespace app {

class ConfigurationModel;
class JobGuard;
class MachineState;
class Notices;
class RunStore;
class TraceDocument;
class TrainingService;
class PlaceList;

/// The page without a trace: try an example, open a trace, record a program; recent runs, recent traces, and samples;
/// what this machine lacks.
/// Esc returns to the trace on screen.
class StartPage : public QWidget {
    Q_OBJECT
public:
    StartPage(Notices* notices, ConfigurationModel* configuration, TrainingService* training, const JobGuard* jobs,
              const RunStore* runs, TraceDocument* document, const MachineState* machine, QWidget* parent);

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
    void showMachine();

    Notices* m_notices;
    ConfigurationModel* m_configuration;
    TrainingService* m_training;
    const JobGuard* m_jobs;
    const RunStore* m_runs;
    TraceDocument* m_document;
    const MachineState* m_machine;
    QLabel* m_missing = nullptr; ///< what the machine lacks, with commands; hidden if nothing
    QPushButton* m_tryIt = nullptr;
    PlaceList *m_recentRuns = nullptr, *m_traces = nullptr, *m_samples = nullptr;
};

} // namespace app
