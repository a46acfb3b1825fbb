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

/// stepscope-train as a child process: where it is, how it is started, controlled and how it ended, and folders for the
/// output of training runs that are only measured.
namespace advisor {

struct TrainerOptions {
    std::filesystem::path program; ///< stepscope-train; see findTrainer
    std::filesystem::path trace;   ///< empty: no trace is written
    bool turns = false;            ///< wait for Turn commands
};

/// How a trainer ended.
struct TrainerExit {
    int status = 0;          ///< exit status, if it exited by itself
    int signal = 0;          ///< otherwise the signal that killed it
    std::string lastOutput;  ///< last lines of its stdout and stderr
    std::string lastError;   ///< the last Notice of severity Error that next() returned, as one line
    std::string lastErrorId; ///< id of that Notice
    /// How it ended ("trainer.killed", "trainer.bad_input"…) and its last words, with the status, the signal and, as
    /// `error`, lastErrorId.
    [[nodiscard]] profiler::Message asMessage() const;
    /// The text of asMessage().
    [[nodiscard]] std::string message() const;
};

/// The text of a notice, with its id and parameters, its place, and its hint.
profiler::Error errorOf(const config::protocol::Notice& notice);

/// "The trainer did not answer for 60 s".
profiler::Message noAnswer(std::chrono::seconds patience);

/// A running stepscope-train: starts it, reads its progress, sends commands. Starts no thread; owned by one owner,
/// usable on any thread. Start it from a thread that outlives it: the kernel kills the trainer with that thread, so
/// that no trainer remains if Stepscope crashes.
class TrainerProcess {
public:
    static profiler::Result<std::unique_ptr<TrainerProcess>> start(const config::TrainingConfig& config,
                                                                   const TrainerOptions& options);
    /// Kills the process if it is still running.
    ~TrainerProcess();

    /// Becomes readable when progress arrives or the trainer exits: for poll() or QSocketNotifier.
    [[nodiscard]] int progressDescriptor() const;
    [[nodiscard]] std::int64_t pid() const;

    /// The next record, waiting at most `timeout`. nullopt: none yet, or the trainer exited (see exited). A line that
    /// cannot be read is returned as a Notice of severity Warning.
    std::optional<config::protocol::Progress> next(std::chrono::milliseconds timeout);
    profiler::Result<void> send(const config::protocol::Command& command);
    /// SIGKILL.
    void kill();
    /// How the trainer exited; nullopt while it runs. next() may still return records that it wrote before.
    std::optional<TrainerExit> exited();

private:
    TrainerProcess();
    struct State;
    std::unique_ptr<State> m;
};

/// STEPSCOPE_TRAINER; otherwise stepscope-train in the folder of this program, in ../trainer of the build tree, or in
/// PATH.
profiler::Result<std::filesystem::path> findTrainer();
/// The command that installs stepscope-train where this program was installed or built: by pip, from the source, or as
/// a Debian package.
std::string commandForTrainer();
/// Like findTrainer(), for stepscope-cli and STEPSCOPE_CLI.
profiler::Result<std::filesystem::path> findCommandLineProgram();
/// Runs `program --describe`; kills it after half a minute. Blocks.
profiler::Result<config::protocol::Description> describeTrainer(const std::filesystem::path& program);

/// An error in a configuration, with its id, and with the key, the value and the allowed values as parameters.
inline profiler::Error configError(profiler::Error::Code code, const config::ConfigError& error)
{
    return {code,
            {error.id,
             {{"key", error.key}, {"value", error.value}, {"allowed", error.allowed}, {"where", error.where}},
             error.message()},
            {},
            {}};
}

/// Folders for the logs and checkpoints of training runs that are only measured. They are next to the user's own
/// folders, on the same disk, so that writing costs the same as in the real run, and nothing that the real run wrote is
/// overwritten. The folders are removed with their owner, which outlives the trainers. Not thread-safe.
class ScratchFiles {
public:
    ScratchFiles() = default;
    ~ScratchFiles();
    ScratchFiles(const ScratchFiles&) = delete;
    ScratchFiles& operator=(const ScratchFiles&) = delete;

    /// Redirects the output of `config` to a new folder; each call creates its own.
    /// @return an error if no folder can be created
    profiler::Result<void> redirect(config::TrainingConfig& config);

private:
    profiler::Result<std::filesystem::path> folderFor(const std::filesystem::path& wanted);

    std::vector<std::filesystem::path> m_folders;
};

} // namespace advisor
