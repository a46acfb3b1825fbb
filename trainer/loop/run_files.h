#pragma once

#include "trainer/loop/host_work.h"
#include "trainer/loop/progress.h"
#include "trainer/loop/training.h"

#include <deque>
#include <fstream>
#include <future>
#include <memory>

namespace trainer {

/// The files that a run writes beside its trace: a line a step into the log, and checkpoints. On the step's path or off
/// it (host.async_work). One thread.
class RunFiles {
public:
    /// @param first  the first of the ranks, or the only one: the others write nothing, but tell it what they know
    /// @param steps  done before: of a resumed run, whose log goes on behind them
    /// Throws profiler::Failure when the log cannot be opened, or the run cannot append to it.
    RunFiles(const config::TrainingConfig& config, Recording& recording, Progress& progress, bool first,
             std::int64_t steps = 0);
    ~RunFiles();

    /// After a step of this number.
    /// @param seconds  since the run began
    void stepDone(std::int64_t number, const Training::Step& step, double seconds, Training& training);
    /// Everything is on the disk when it returns; failures have been told.
    void finish();

private:
    void log(std::string line, std::shared_future<double> loss);
    void checkpoint(Training& training);
    void tellErrors();

    Recording& m_recording;
    Progress& m_progress;
    bool m_apart, m_first;
    std::int64_t m_checkpointEvery;
    std::filesystem::path m_folder;
    std::string m_logFile;                       // empty: none
    std::shared_ptr<std::ofstream> m_log;        // null: none
    std::deque<std::future<void>> m_checkpoints; // on their way to the disk, oldest first
    HostWork m_work;
};

} // namespace trainer
