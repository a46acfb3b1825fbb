#pragma once

#include "app/session/background.h"
#include "profiler/model/trace.h"
#include "trainer/config/training_config.h"

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>
#include <chrono>
#include <memory>
#include <optional>

namespace app {

struct Analysed;

/// Analyses and rules on a thread of their own. While a trace grows they run about once a second, and less often when
/// they cost much, so that they take little from the training that is watched; see pauseAfter().
class Analyser : public QObject {
    Q_OBJECT
public:
    explicit Analyser(QObject* parent = nullptr);
    ~Analyser() override;

    /// The newest request wins. @param config  of the run; none for a trace that has none
    void request(std::shared_ptr<const profiler::Trace> trace, std::optional<config::TrainingConfig> config);
    /// Between the end of an analysis of a live trace and the next one: so long that they take a hundredth of one core,
    /// but at least a second, and at most half a minute, so that there is advice while it can be of use.
    /// @param cpu  processor time of the last one
    static std::chrono::milliseconds pauseAfter(std::chrono::nanoseconds cpu);
    /// From the next request on, steps are what repeats in the trace, or again its marks; reset() goes back to marks.
    void setStepsByRepetition(bool on) { m_byRepetition = on; }
    /// Drops what is under way: another trace is on screen.
    void reset();

signals:
    void analysed(std::shared_ptr<const app::Analysed> result);

private:
    void startNext();

    struct Request {
        std::shared_ptr<const profiler::Trace> trace;
        std::optional<config::TrainingConfig> config;
        bool byRepetition = false;
    };
    std::optional<Request> m_next;
    bool m_busy = false;
    std::chrono::nanoseconds m_lastCpu{}; ///< processor time of the last one
    bool m_byRepetition = false;
    QElapsedTimer m_sinceEnd;
    QTimer m_later;
    Background m_thread;
};

} // namespace app
