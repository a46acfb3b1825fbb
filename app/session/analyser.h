#pragma once

#include "advisor/evidence/program_values.h"
#include "advisor/evidence/source_lines.h"
#include "advisor/rule.h"
#include "app/models/recorded_files.h"
#include "app/session/background.h"
#include "app/session/session.h"
#include "profiler/model/trace.h"
#include "trainer/config/training_config.h"

#include <QElapsedTimer>
#include <QObject>
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

struct Analysed;

/// What the advisor says of the trace on screen, and what it stands on. Immutable.
struct Advised {
    std::vector<advisor::RuleAdvice> rules;            ///< best first
    advisor::ProgramValues program;                    ///< of the program that was traced, for code to paste
    std::vector<RecordedFile> files;                   ///< of the recorded Python program; none while the trace grows
    advisor::SourceLines lines;                        ///< of those files
    std::shared_ptr<const advisor::SourceTimes> times; ///< null: the trace is not of a Python program, or grows
    bool live = false;                                 ///< the trace still grows
    std::int64_t steps = 0;                            ///< how many the last look at the whole trace found
    std::int64_t lastSteps = 0; ///< the newest verdicts are of so many last steps; 0: of the trace as a whole
    std::int64_t newest = 0;    ///< index of the last of those
};

/// Steps of a trace, and why there are none by repetition where they were to be found by it.
struct FoundSteps {
    std::vector<profiler::analysis::Step> steps;
    QString whyNoRepetition;
    bool ofRange = false; ///< the ranges of that name are the steps
};
/// By `source`; where it gives none, by the trace's own marks.
FoundSteps stepsOf(const profiler::Trace& trace, const StepSource& source);

/// Analyses and rules on a thread of their own. While a trace grows the whole of it is analysed each second as long as
/// that costs little. When it costs more, the rules look each second at its last steps (analysis::lastSteps()) and
/// their verdicts go on top of those on the whole (advisor::mergeLiveAdvice()); the whole is analysed now and then, and
/// when the trace is at its end. Together they take about a hundredth of one core from the training that is watched.
class Analyser : public QObject {
    Q_OBJECT
public:
    explicit Analyser(QObject* parent = nullptr);

    /// The newest request wins. @param config  of the run; none for a trace that has none
    void request(std::shared_ptr<const profiler::Trace> trace, std::optional<config::TrainingConfig> config);
    /// From the next request on; reset() goes back to the trace's marks.
    void setStepSource(StepSource source) { m_source = std::move(source); }
    /// Between the end of one look at a live trace and the next of its kind: so long that they take a quarter of a
    /// hundredth of one core, but at least a second. Snapshots and cards cost about as much again as the last steps.
    /// @param cpu  processor time of the last one
    static std::chrono::milliseconds pauseAfter(std::chrono::nanoseconds cpu);
    /// Stops what is under way: another trace is on screen.
    void reset();
    /// How many analyses run, superseded ones included.
    [[nodiscard]] std::size_t running() const { return m_thread.running(); }

signals:
    /// The trace as a whole; advised() follows.
    void analysed(std::shared_ptr<const app::Analysed> result);
    void advised(std::shared_ptr<const app::Advised> advice);
    /// Most often there was not enough memory. Neither of the others follows.
    void failed(const profiler::Error& error);

private:
    struct Request {
        std::shared_ptr<const profiler::Trace> trace;
        std::optional<config::TrainingConfig> config;
        StepSource source;
    };
    /// What the last looks cost in processor time, which says when the next ones are.
    struct Cost {
        std::chrono::nanoseconds whole{}, lastSteps{};
        bool hasLastSteps = false; ///< they are looked at between looks at the whole
    };
    struct Found {
        std::shared_ptr<const Analysed> whole; ///< null: only the last steps were looked at
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
    std::shared_ptr<const Advised> m_said; ///< null: nothing was analysed yet
    Cost m_cost;
    QElapsedTimer m_sinceEnd, m_sinceWhole;
    QTimer m_later;
    Background m_thread;
};

} // namespace app
