#pragma once

#include "trainer/loop/host_work.h"
#include "trainer/loop/progress.h"
#include "trainer/loop/training.h"

#include <fstream>
#include <future>
#include <memory>

namespace trainer {

/// The files that a run writes beside its trace: a line a step into the log, and checkpoints. On the step's path or off
/// it (host.async_work). One thread.
class RunFiles {
public:
    /// @param first  the first of the ranks, or the only one: the others write nothing
    /// Throws std::runtime_error when the log cannot be opened.
    RunFiles(const config::TrainingConfig& config, Recording& recording, Progress& progress, bool first);
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
    bool m_apart;
    std::int64_t m_checkpointEvery;
    std::filesystem::path m_folder;
    std::shared_ptr<std::ofstream> m_log; // null: none
    HostWork m_work;
};

} // namespace trainer
