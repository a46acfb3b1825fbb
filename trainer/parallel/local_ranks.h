#pragma once

#include "profiler/model/message.h"
#include "profiler/model/result.h"
#include "profiler/os/files.h"
#include "profiler/os/process.h"

#include <atomic>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

/// Ranks of a training on this machine, and the addresses at which ranks of several machines find each other.
namespace trainer {

/// The other ranks of a training on this machine, started by rank 0 as processes of the same program. They end with
/// this process; the destructor ends them too.
class LocalRanks {
public:
    /// A line of a rank's progress.
    using Listener = std::function<void(int rank, const std::string& line)>;
    /// Called at the first death of a rank, which death() then returns. May take long; must not throw.
    using DeathListener = std::function<void()>;

    /// @param arguments  of this program, without its name and --trace; passed to each rank
    /// @param trace  of rank 0; the others write to traceOf() it
    /// @param listener  called on the thread that watches the ranks
    /// @param deathListener  called on a separate thread
    /// Throws profiler::Failure if a rank cannot be started.
    LocalRanks(int size, const std::vector<std::string>& arguments, const std::filesystem::path& trace,
               Listener listener, DeathListener deathListener);
    /// Ends the ranks, then waits for the listeners.
    ~LocalRanks();
    LocalRanks(const LocalRanks&) = delete;
    LocalRanks& operator=(const LocalRanks&) = delete;

    /// Which rank died first and why; nullopt while all run or exited successfully.
    [[nodiscard]] std::optional<profiler::Message> death() const;
    /// Waits until all ranks have exited.
    void wait();

    /// The trace of a rank: "run.sstrace" for rank 0, "run.rank1.sstrace"…
    static std::filesystem::path traceOf(const std::filesystem::path& trace, int rank);
    /// Whether this process is a rank started by torchrun or by another Stepscope process.
    static bool isRank();

private:
    struct Child {
        int rank = 0;
        profiler::os::ProcessId process = -1;
        profiler::os::Descriptor progress; // empty at the end of its output
        std::string pending;
        bool ended = false;
    };
    void start(int rank, int size, int port, const std::vector<std::string>& arguments,
               const std::filesystem::path& trace);
    void watch();
    void read(Child& child);
    void noteEnd(Child& child, const profiler::os::ExitStatus& end);
    void reportDeath();

    Listener m_listener;
    DeathListener m_deathListener;
    std::vector<Child> m_children; // used only by the watching thread while it runs
    mutable std::mutex m_mutex;
    profiler::Message m_death; // empty: none
    std::atomic<bool> m_ending = false;
    std::thread m_reporting; // owned by the watching thread until that has ended
    std::thread m_thread;
};

/// The local address that the system's routes use to reach a host. Sends nothing.
/// @param host  a name or an address
/// @return numeric: "192.168.1.7". Fails if the name is unknown or no route leads there. Any thread
profiler::Result<std::string> addressTowards(const std::string& host);

/// The local address for remote hosts: that of the default route.
profiler::Result<std::string> addressTowardsAnywhere();

/// Whether a numeric address can only be reached from this machine itself.
bool isLoopback(const std::string& address);

} // namespace trainer
