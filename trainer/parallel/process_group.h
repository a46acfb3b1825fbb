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

/// The rank of this process in a distributed training, from the variables that torchrun sets.
struct Ranks {
    int rank = 0, size = 1, localRank = 0;
    std::string address = "127.0.0.1"; ///< where rank 0 listens
    int port = 29500;
    /// From RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR and MASTER_PORT; a single process if they are not set. Throws
    /// profiler::Failure if they are inconsistent.
    static Ranks fromEnvironment();
};

/// Processes that exchange gradients: with NCCL between GPUs, with Gloo between CPUs. Other agreements between ranks
/// use Gloo on the hosts and do not wait for a device. Joining waits for all ranks.
class ProcessGroup {
public:
    /// Throws std::exception if the other ranks do not join within two minutes or the address cannot be used. If ranks
    /// are on several hosts, each uses its address on the route to rank 0; GLOO_SOCKET_IFNAME overrides it.
    /// @param watch  called regularly while waiting for the other ranks: throws if they cannot join any more. While it
    ///               does not throw, there is no time limit. Empty: two minutes
    ProcessGroup(const Ranks& ranks, c10::Device device, const std::function<void()>& watch = {});
    /// Shuts the exchange down: otherwise NCCL's threads and connections would keep the process from ending. Aborts it
    /// during stack unwinding, because the other ranks may not answer.
    ~ProcessGroup();
    ProcessGroup(const ProcessGroup&) = delete;
    ProcessGroup& operator=(const ProcessGroup&) = delete;

    [[nodiscard]] std::int64_t rank() const { return m_ranks.rank; }
    [[nodiscard]] std::int64_t size() const { return m_ranks.size; }
    /// Waits until all ranks have called it.
    void barrier();
    /// Whether `here` is true on any rank; all ranks must call it.
    [[nodiscard]] bool anyOf(bool here);
    /// Sums each number over the ranks; all ranks must call it with equally many numbers.
    void addUp(std::vector<double>& numbers);
    /// Call it when another rank is gone: ends exchanges that wait for it; NCCL's kernels would otherwise wait for the
    /// timeout. Any thread. Waits until this is done, which may take as long as an exchange; throws std::exception on
    /// failure.
    void abort();
    /// LibTorch's own object, for its Reducer.
    [[nodiscard]] c10d::ProcessGroup& native();

private:
    Ranks m_ranks;
    struct State;
    std::unique_ptr<State> m;
};

} // namespace trainer
