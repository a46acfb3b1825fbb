#include "trainer/session/step_reports.h"

#include "trainer/session/host.h"

namespace trainer {

namespace {
constexpr auto kBetweenReports = std::chrono::milliseconds(50);
}

void StepReports::add(std::int64_t step, std::int64_t epoch, std::int64_t samples, double seconds,
                      std::optional<double> loss)
{
    m_next.step = step;
    m_next.epoch = epoch;
    ++m_next.steps;
    m_seconds += seconds;
    m_samples += samples;
    if (loss)
        m_next.loss = loss;
    if (std::chrono::steady_clock::now() - m_last >= kBetweenReports)
        flush();
}

void StepReports::setTotals(std::int64_t samples, double seconds, double learningRate, std::int64_t skipped)
{
    m_next.samples = samples;
    m_next.seconds = seconds;
    m_next.learningRate = learningRate;
    m_next.skipped = skipped;
}

void StepReports::flush()
{
    if (m_next.steps == 0)
        return;
    m_last = std::chrono::steady_clock::now();
    m_next.stepSeconds = m_seconds / static_cast<double>(m_next.steps);
    m_next.samplesPerSecond = m_seconds > 0 ? static_cast<double>(m_samples) / m_seconds : 0;
    m_next.dropped = m_recording.dropped();
    m_progress.report(m_next);
    m_recording.sampleSpeed(m_next.samplesPerSecond);
    m_recording.sampleMemory(residentBytes(), peakResidentBytes());
    m_next.steps = m_samples = 0;
    m_seconds = 0;
}

} // namespace trainer
