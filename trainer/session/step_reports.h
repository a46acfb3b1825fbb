#pragma once

#include "trainer/session/progress.h"
#include "trainer/session/recording.h"

#include <chrono>
#include <cstdint>
#include <optional>

namespace trainer {

/// Combines steps into at most twenty reports per second, for the program that started the trainer and for the trace's
/// counters.
class StepReports {
public:
    StepReports(Recording& recording, Progress& progress) : m_recording(recording), m_progress(progress) {}
    void add(std::int64_t step, std::int64_t epoch, std::int64_t samples, double seconds, std::optional<double> loss);
    /// Sets the loss of the steps so far, if it becomes known after them.
    void setLoss(double loss) { m_next.loss = loss; }
    /// State of the training after the step that is added next.
    /// @param seconds  since the training began
    void setTotals(std::int64_t samples, double seconds, double learningRate, std::int64_t skipped);
    /// Reports the pending steps.
    void flush();

private:
    Recording& m_recording;
    Progress& m_progress;
    config::protocol::StepProgress m_next;
    double m_seconds = 0;
    std::int64_t m_samples = 0;
    std::chrono::steady_clock::time_point m_last{};
};

} // namespace trainer
