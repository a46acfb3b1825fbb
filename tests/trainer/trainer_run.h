#pragma once

#include "profiler/model/trace.h"
#include "tests/support/temporary_folder.h"
#include "trainer/config/protocol.h"

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace trainer_test {

namespace protocol = config::protocol;

using TestFolder = test_support::TemporaryFolder;

/// What sha256sum says of a file, which must exist.
std::string sha256Of(const std::filesystem::path& path);

/// How a trainer ended.
struct Ended {
    int status = -1;    ///< exit status
    int signal = 0;     ///< or what killed it
    std::string output; ///< its stdout and stderr
};

/// A running stepscope-train with progress and commands on pipes.
class TrainerRun {
public:
    /// @param beforeExec  called in the new process; limits and the like
    explicit TrainerRun(const std::vector<std::string>& arguments, const std::function<void()>& beforeExec = {});
    /// Kills it, if it still runs.
    ~TrainerRun();
    TrainerRun(const TrainerRun&) = delete;
    TrainerRun& operator=(const TrainerRun&) = delete;

    /// The next record; nullopt once the trainer ended, or after a minute.
    std::optional<protocol::Progress> next();
    /// Reads on until a record of this type comes; nullopt when none does.
    template <class Record>
    std::optional<Record> await()
    {
        while (auto progress = next())
            if (auto* record = std::get_if<Record>(&*progress))
                return *record;
        return std::nullopt;
    }
    void send(const protocol::Command& command) { sendLine(protocol::toLine(command)); }
    void sendLine(const std::string& line);
    void closeInput();
    void signal(int number) const;
    [[nodiscard]] pid_t pid() const { return m_pid; }
    /// Reads the rest and waits for the end.
    Ended end();
    /// Everything that was reported so far.
    [[nodiscard]] const std::vector<protocol::Progress>& records() const { return m_records; }
    template <class Record>
    [[nodiscard]] std::vector<Record> all() const
    {
        std::vector<Record> found;
        for (const protocol::Progress& progress : m_records)
            if (const auto* record = std::get_if<Record>(&progress))
                found.push_back(*record);
        return found;
    }

private:
    pid_t m_pid = -1;
    int m_input = -1, m_progress = -1;
    std::string m_pending;
    std::vector<protocol::Progress> m_records;
    std::filesystem::path m_output;
};

/// A small training that takes a fraction of a second: generated images below `folder`, one thread, and `assignments`.
std::vector<std::string> smallTraining(const std::filesystem::path& folder,
                                       const std::vector<std::string>& assignments = {});

/// A finished training with its trace.
struct Finished {
    Ended ended;
    std::vector<protocol::Progress> records;
    std::shared_ptr<const profiler::Trace> trace; ///< null when none was asked for or written
    template <class Record>
    [[nodiscard]] Record one() const
    {
        for (const protocol::Progress& progress : records)
            if (const auto* record = std::get_if<Record>(&progress))
                return *record;
        return {};
    }
};
/// Runs smallTraining() to its end, traced.
Finished train(const std::filesystem::path& folder, const std::vector<std::string>& assignments = {});
/// Losses of the first `count` steps of smallTraining().
std::vector<double> losses(const std::filesystem::path& folder, const std::vector<std::string>& assignments,
                           int count = 6);

} // namespace trainer_test
