#pragma once

#include "profiler/model/result.h"
#include "trainer/config/protocol.h"
#include "trainer/config/training_config.h"

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace advisor {

struct TrainerOptions {
    std::filesystem::path program; ///< stepscope-train; see findTrainer
    std::filesystem::path trace;   ///< empty: no trace is written
    bool turns = false;            ///< wait for Turn commands
};

/// How a trainer ended.
struct TrainerExit {
    int status = 0;          ///< exit status, when it ended by itself
    int signal = 0;          ///< else the signal that killed it
    std::string lastOutput;  ///< last lines of its stdout and stderr
    std::string lastError;   ///< its last Notice of severity Error that next() gave out, as one line
    std::string lastErrorId; ///< its id
    /// What a user should read: "The trainer was killed (signal 9: out of memory?) …"
    [[nodiscard]] std::string message() const;
    /// The same with an id, the status and the signal.
    [[nodiscard]] profiler::Message asMessage() const;
};

/// What a notice says, with its id and parameters, where, and what to do.
profiler::Error errorOf(const config::protocol::Notice& notice);

/// "The trainer did not answer for 60 s".
profiler::Message noAnswer(std::chrono::seconds patience);

/// A running stepscope-train: starts it, reads its progress, sends commands. No thread of its own; one owner, any
/// thread. Start it from a thread that outlives it: the kernel ends the trainer with that thread, so that a crash of
/// ours leaves none.
class TrainerProcess {
public:
    static profiler::Result<std::unique_ptr<TrainerProcess>> start(const config::TrainingConfig& config,
                                                                   const TrainerOptions& options);
    /// Kills the process if it still runs.
    ~TrainerProcess();

    /// Readable when progress came or the trainer ended: for poll() or QSocketNotifier.
    [[nodiscard]] int progressDescriptor() const;
    [[nodiscard]] std::int64_t pid() const;

    /// Next record, waiting at most `timeout`. nullopt: none yet, or ended (see exited). A line that cannot be read
    /// comes as a Notice of severity Warning.
    std::optional<config::protocol::Progress> next(std::chrono::milliseconds timeout);
    profiler::Result<void> send(const config::protocol::Command& command);
    /// SIGKILL.
    void kill();
    /// How it ended; nullopt while it runs. Records that it wrote before its end may still be waiting in next().
    std::optional<TrainerExit> exited();

private:
    TrainerProcess();
    struct State;
    std::unique_ptr<State> m;
};

/// STEPSCOPE_TRAINER, else stepscope-train beside this program, in ../trainer of the build tree, in PATH.
profiler::Result<std::filesystem::path> findTrainer();
/// The same for stepscope-cli and STEPSCOPE_CLI.
profiler::Result<std::filesystem::path> findCommandLineProgram();
/// Runs `program --describe`; kills it after half a minute. Blocks.
profiler::Result<config::protocol::Description> describeTrainer(const std::filesystem::path& program);

} // namespace advisor
