#pragma once

#include "advisor/experiment/experiment.h"
#include "advisor/rule.h"
#include "profiler/analysis/facts.h"
#include "profiler/model/trace.h"
#include "trainer/config/protocol.h"
#include "trainer/config/training_config.h"

#include <QObject>
#include <QString>
#include <QUndoStack>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

namespace app {

enum class RunState { Idle, Starting, Running, Paused, Stopping };

/// A trace with what was computed from it, off the GUI thread. Immutable.
struct Analysed {
    std::shared_ptr<const profiler::Trace> trace;
    profiler::analysis::Facts facts;
    std::vector<advisor::RuleAdvice> advice;
};

/// Everything that is going on: the configuration, the trainer's run, the trace on screen, its analysis, experiments.
/// GUI thread; long work happens elsewhere and comes back as signals.
class Session : public QObject {
    Q_OBJECT
public:
    explicit Session(QObject* parent = nullptr);
    ~Session() override;

    // configuration
    [[nodiscard]] const config::TrainingConfig& configuration() const;
    /// Checks and sets one knob as an undoable command; the message of the error otherwise (configuration unchanged).
    std::optional<QString> setKnob(std::string_view key, const QString& text);
    void setConfiguration(const config::TrainingConfig& configuration, const QString& undoText);
    [[nodiscard]] QUndoStack* undoStack();
    /// What the trainer can do; empty lists until it was asked.
    [[nodiscard]] const config::protocol::Description& description() const;

    // the run
    [[nodiscard]] RunState runState() const;
    void start();
    void pause();
    void resume();
    void stop(); ///< asks the trainer to finish its step; kills it after ten seconds
    [[nodiscard]] const std::vector<config::protocol::StepProgress>& stepHistory() const;
    [[nodiscard]] const std::vector<config::protocol::EpochProgress>& epochHistory() const;

    // the trace
    [[nodiscard]] std::shared_ptr<const profiler::Trace> trace() const; ///< never null
    [[nodiscard]] std::shared_ptr<const Analysed> analysed() const;     ///< null until computed
    void openTrace(const std::filesystem::path& path);

    // experiments
    [[nodiscard]] bool experimentRunning() const;
    void startExperiment(const advisor::RuleAdvice& advice);
    void cancelExperiment();

signals:
    void configurationChanged();
    void descriptionChanged();
    void runStateChanged(app::RunState state);
    void progressed(const config::protocol::Progress& progress);
    /// An error or notice for the user: a strip over the timeline.
    void noticed(const QString& what, const QString& detail, bool isError);
    void traceChanged();   ///< also for each new snapshot of a live trace
    void traceReplaced();  ///< another trace altogether: reset zoom and selection
    void analysedChanged();
    void loading(const QString& what, double share); ///< share 1: finished
    void experimentProgressed(const QString& ruleId, const advisor::ExperimentProgress& progress);
    void experimentFinished(const QString& ruleId, const advisor::ExperimentResult& result);
    void experimentFailed(const QString& ruleId, const QString& message);

private:
    struct State;
    std::unique_ptr<State> m;
};

} // namespace app
