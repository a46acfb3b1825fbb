#pragma once

#include "profiler/model/trace.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// The communication of one rank as single calls that can be matched with those of other ranks.
namespace profiler::analysis {

enum class CollectiveKind : std::uint8_t {
    AllReduce,
    AllGather,
    ReduceScatter,
    AllToAll,
    Broadcast,
    Reduce,
    Gather,
    Scatter,
    Barrier,
    SendRecv, ///< point to point
    Other,
};
/// "all_reduce", "send_recv", "other"…
std::string_view collectiveName(CollectiveKind kind);
/// By the name of a kernel ("ncclDevKernel_AllReduce_Sum_f32_RING_LL"), an operator ("c10d::_allgather_base_"), a range
/// ("gloo:all_reduce") or PyTorch's "Collective name".
CollectiveKind collectiveKindOf(std::string_view name);
/// True if no rank can leave before all ranks of the group have arrived, so that ranks leave together.
bool waitsForAll(CollectiveKind kind);
/// Bytes on the busiest link per byte of the payload, for the bus bandwidth. Source: NCCL tests, PERFORMANCE.md.
double busFactor(CollectiveKind kind, std::int64_t ranks);

/// A communicator: a group of ranks.
struct CollectiveGroup {
    std::uint64_t key = 0;             ///< the same on each of its ranks; 0: the trace does not record groups
    std::string name{};                ///< "default_pg", "mesh_tp", "3"; may be empty
    std::vector<std::int64_t> ranks{}; ///< empty if not recorded; large groups are recorded in part
    std::int64_t size = 0;             ///< number of ranks; 0: unknown
    friend bool operator==(const CollectiveGroup&, const CollectiveGroup&) = default;
};

/// One rank's part in a collective.
struct CollectiveCall {
    TimeRange range;            ///< from arrival to completion, by the rank's clock
    TraceTime launched{};       ///< when the host called it; the start of `range` if that is not recorded
    std::int64_t sequence = -1; ///< number within its group; −1: not recorded
    std::int64_t bytes = 0;     ///< payload of this rank; 0: not recorded
    Nanoseconds exposed{};      ///< the part of `range` in which the rank computes nothing; set by rankDigest()
    std::uint32_t group = 0;    ///< index into RankCollectives::groups
    std::int32_t step = -1;     ///< index into RankDigest::steps; −1: outside of steps; set by rankDigest()
    CollectiveKind kind = CollectiveKind::Other;
    bool sendsOnly = false; ///< point to point: known to receive nothing
};

struct RankCollectives {
    std::vector<CollectiveGroup> groups;
    std::vector<CollectiveCall> calls; ///< by launch
    bool onDevice = false;             ///< kernels of NCCL or RCCL; otherwise ranges on the host (Gloo, MPI)
};
/// Device kernels or, if there are none, ranges on host threads. Groups, sizes and sequence numbers are those that
/// PyTorch's profiler writes into the arguments of each kernel, which are read from the file.
RankCollectives collectivesOf(const Trace& trace);

} // namespace profiler::analysis
