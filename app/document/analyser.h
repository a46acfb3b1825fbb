#pragma once

#include "advisor/evidence/program_values.h"
#include "advisor/evidence/source_lines.h"
#include "advisor/rule.h"
#include "app/document/recorded_files.h"
#include "app/document/trace_summary.h"
#include "app/services/background.h"
#include "profiler/analysis/facts.h"
#include "profiler/model/trace.h"
#include "trainer/config/training_config.h"

#include <QElapsedTimer>
#include <QObject>
#include <QString>
#include <QTimer>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace app {

/// Source of the steps of a trace. By default its step marks; for a complete trace without marks, repeated work; of
/// several ranks, those of the slowest.
struct StepSource {
    bool repetition = false; ///< infer steps from repeated work, even if there are marks
    std::string range = {};  ///< use ranges of this name, see analysis::stepMarks(); empty: none
    bool marksOnly = false;  ///< the user removed inferred steps
    std::optional<std::int64_t> rank = {}; ///< number of the rank that is analysed
    friend bool operator==(const StepSource&, const StepSource&) = default;
};

/// A trace with its analysis, computed off the GUI thread. Immutable.
struct Analysed {
    std::shared_ptr<const profiler::Trace> trace;
    profiler::analysis::Facts facts;
    TraceSummary summary;
    StepSource source;       ///< of its steps
    QString whyNoRepetition; ///< why no steps could be inferred from repetition; otherwise empty
    QString whyNoRange;      ///< why no ranges of the given name could be used as steps; otherwise empty
};

/// The advisor's findings for the trace on screen and their basis. Immutable.
struct Advised {
    std::vector<advisor::RuleAdvice> rules;            ///< best first
    advisor::ProgramValues program;                    ///< language of the traced program, for code to paste
    std::vector<RecordedFile> files;                   ///< of the recorded Python program; none while the trace grows
    advisor::SourceLines lines;                        ///< of those files
    std::shared_ptr<const advisor::SourceTimes> times; ///< null: not a trace of a Python program, or still growing
    bool live = false;                                 ///< the trace still grows
    std::int64_t steps = 0;                            ///< number of steps in the last analysis of the whole trace
    std::int64_t lastSteps = 0; ///< the newest verdicts cover this many last steps; 0: the whole trace
    std::int64_t newest = 0;    ///< index of the last of these steps
};

/// The steps of a trace, and why there are none if they were to be inferred from repetition.
struct FoundSteps {
    std::vector<profiler::analysis::Step> steps;
    QString whyNoRepetition;
    bool ofRange = false; ///< ranges of that name are used as steps
};
/// Finds the steps by `source`; if that yields none, by the trace's own marks.
FoundSteps stepsOf(const profiler::Trace& trace, const StepSource& source);

/// Runs analyses and rules on a separate thread. A growing trace is analysed as a whole every second while that is
/// cheap. When it becomes expensive, the rules run every second on the last steps (analysis::lastSteps()), and their
/// verdicts are merged into those of the whole trace (advisor::mergeLiveAdvice()). The whole trace is then analysed
/// occasionally, and when it is complete. Together this takes about one hundredth of one core from the watched
/// training.
class Analyser : public QObject {
    Q_OBJECT
public:
    explicit Analyser(QObject* parent = nullptr);

    /// The newest request wins.
    /// @param config  configuration of the run; none if the trace has none
    void request(std::shared_ptr<const profiler::Trace> trace, std::optional<config::TrainingConfig> config);
    /// Takes effect with the next request; reset() returns to the trace's marks.
    void setStepSource(StepSource source) { m_source = std::move(source); }
    [[nodiscard]] const StepSource& stepSource() const { return m_source; }
    /// Pause between two analyses of the same kind of a live trace: long enough that they use a quarter of one
    /// hundredth of a core, but at least one second. Snapshots and cards cost about as much again as the last steps.
    /// @param cpu  CPU time of the last analysis
    static std::chrono::milliseconds pauseAfter(std::chrono::nanoseconds cpu);
    /// Stops the current work because another trace is on screen.
    void reset();
    /// Number of running analyses, including superseded ones.
    [[nodiscard]] std::size_t running() const { return m_thread.running(); }

signals:
    /// Emitted for the whole trace; advised() follows.
    void analysed(std::shared_ptr<const app::Analysed> result);
    void advised(std::shared_ptr<const app::Advised> advice);
    /// The analysis failed, usually because of insufficient memory. Neither of the other signals follows.
    void failed(const profiler::Error& error);

private:
    struct Request {
        std::shared_ptr<const profiler::Trace> trace;
        std::optional<config::TrainingConfig> config;
        StepSource source;
    };
    /// CPU time of the last analyses, which determines the time of the next ones.
    struct Cost {
        std::chrono::nanoseconds whole{}, lastSteps{};
        bool hasLastSteps = false; ///< they are analysed between analyses of the whole trace
    };
    struct Found {
        std::shared_ptr<const Analysed> whole; ///< null: only the last steps were analysed
        std::shared_ptr<const Advised> advice;
        Cost cost;
    };
    static std::optional<Found> look(const Request& job, std::shared_ptr<const Advised> said, Cost cost, bool atWhole,
                                     const std::stop_token& stop);

    [[nodiscard]] std::chrono::milliseconds untilNext(bool live) const;
    void startNext();
    void take(const Found& found);

    std::optional<Request> m_next;
    bool m_busy = false;
    StepSource m_source;
    std::shared_ptr<const Advised> m_said; ///< null: not analysed yet
    Cost m_cost;
    QElapsedTimer m_sinceEnd, m_sinceWhole;
    QTimer m_later;
    Background m_thread;
};

} // namespace app
