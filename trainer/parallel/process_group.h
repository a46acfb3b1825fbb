#pragma once

#include <c10/core/Device.h>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace c10d {
class ProcessGroup;
}

namespace trainer {

/// The place of this process among those that train together, from the variables that torchrun sets.
struct Ranks {
    int rank = 0, size = 1, localRank = 0;
    std::string address = "127.0.0.1"; ///< where rank 0 listens
    int port = 29500;
    /// From RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR and MASTER_PORT; one process where they are not set. Throws
    /// profiler::Failure where they are inconsistent.
    static Ranks fromEnvironment();
};

/// Processes that exchange gradients: NCCL between GPUs, Gloo between processors. What they agree on besides goes from
/// host to host by Gloo, and waits for no device. Joining waits for all of them.
class ProcessGroup {
public:
    /// Throws std::exception when the others do not come within two minutes or the address cannot be used. Where ranks
    /// are on several hosts, each is reached at its address on the way to rank 0's; GLOO_SOCKET_IFNAME names another.
    /// @param watch  asked now and then while the others are still to come: throws when that is in vain. As long as it
    ///               does not, they may take longer. Empty: nobody can tell
    ProcessGroup(const Ranks& ranks, c10::Device device, const std::function<void()>& watch = {});
    /// Shuts the exchange down: NCCL's threads and connections would otherwise keep the process from ending. Aborts it
    /// where an exception is under way, since the other ranks may not answer.
    ~ProcessGroup();
    ProcessGroup(const ProcessGroup&) = delete;
    ProcessGroup& operator=(const ProcessGroup&) = delete;

    [[nodiscard]] std::int64_t rank() const { return m_ranks.rank; }
    [[nodiscard]] std::int64_t size() const { return m_ranks.size; }
    /// Waits until all are here.
    void barrier();
    /// Whether any rank says so; all must ask.
    [[nodiscard]] bool anyOf(bool here);
    /// Adds up each number over the ranks; all must ask, with as many numbers.
    void addUp(std::vector<double>& numbers);
    /// Another rank is gone: ends exchanges that wait for it, where NCCL's kernels would wait for the timeout. From any
    /// thread. Waits until that is done, which may take as long as an exchange may; throws std::exception where it
    /// fails.
    void abort();
    /// LibTorch's own object, for its Reducer.
    [[nodiscard]] c10d::ProcessGroup& native();

private:
    Ranks m_ranks;
    struct State;
    std::unique_ptr<State> m;
};

} // namespace trainer
