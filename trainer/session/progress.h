#pragma once

#include "profiler/model/result.h"
#include "trainer/config/protocol.h"
#include "trainer/config/training_config.h"
#include "trainer/data/loader.h"
#include "trainer/session/recording.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>

/// The progress of a run, for the program that started the trainer or for the terminal; its steps and the samples that
/// could not be loaded are condensed.
namespace trainer {

/// A notice about `what`: its text, its id and its parameters.
config::protocol::Notice notice(config::protocol::Notice::Severity severity, const profiler::Message& what,
                                std::string where = {}, std::string hint = {}, std::int64_t count = 1);
/// An error of a configuration, with key, value and what is allowed as parameters.
profiler::Message messageOf(const config::ConfigError& error);

/// Receives the progress of a run. Single-threaded.
class Progress {
public:
    virtual ~Progress() = default;
    virtual void report(const config::protocol::Progress& record) = 0;

    void inform(const profiler::Message& what, std::string where = {}, std::string hint = {}, std::int64_t count = 1);
    void warn(const profiler::Message& what, std::string where = {}, std::string hint = {}, std::int64_t count = 1);
    void fail(const profiler::Message& what, std::string where = {}, std::string hint = {});
};

/// Writes protocol lines to a descriptor. A slow reader never blocks the training: step records are then dropped, and
/// other records wait at most one second. Makes the descriptor non-blocking.
std::unique_ptr<Progress> progressToDescriptor(int descriptor);
/// Writes sentences to stderr; steps at most once per second.
std::unique_ptr<Progress> progressToTerminal();

/// A notice as a sentence: "out of space (/data/x): choose another folder".
std::string sentence(const config::protocol::Notice& notice);

/// Reports samples that could not be loaded: the first ones by name, and the total as a number. A file counts once,
/// even if several epochs read it.
class BadSamples {
public:
    explicit BadSamples(Progress& progress) : m_progress(progress) {}
    void add(data::Split split, std::span<const data::BadSample> bad);
    /// Reports the number if it has grown since the last report.
    void reportTotal();

private:
    // A longer list of names would hide all other notices.
    static constexpr std::size_t kNamed = 20;
    Progress& m_progress;
    std::set<std::pair<data::Split, std::int64_t>> m_seen;
    std::size_t m_reported = 0;
};

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
