#pragma once

#include "trainer/session/host_work.h"
#include "trainer/session/progress.h"
#include "trainer/session/training.h"

#include <deque>
#include <fstream>
#include <future>
#include <memory>

namespace trainer {

/// The files that a run writes in addition to its trace: a log with one line per step, and checkpoints. Written inside
/// the step or on a background thread (host.async_work). Single-threaded.
class RunFiles {
public:
    /// @param first  this is the first or only rank: the others write no files but contribute their state
    /// @param steps  already done: a resumed run appends to the log after them
    /// Throws profiler::Failure if the log cannot be opened or the run cannot append to it.
    RunFiles(const config::TrainingConfig& config, Recording& recording, Progress& progress, bool first,
             std::int64_t steps = 0);
    ~RunFiles();

    /// Call it after each step, with its number.
    /// @param seconds  since the run began
    void stepDone(std::int64_t number, const Training::Step& step, double seconds, Training& training);
    /// Returns when everything is on the disk and all failures are reported.
    void finish();

private:
    void log(std::string line, std::shared_future<double> loss);
    void checkpoint(Training& training);
    void reportErrors();

    Recording& m_recording;
    Progress& m_progress;
    bool m_apart, m_first;
    std::int64_t m_checkpointEvery;
    std::filesystem::path m_folder;
    std::string m_logFile;                       // empty: none
    std::shared_ptr<std::ofstream> m_log;        // null: none
    std::deque<std::future<void>> m_checkpoints; // being written to the disk, oldest first
    HostWork m_work;
};

} // namespace trainer
