#pragma once

#include "profiler/analysis/intervals.h"
#include "profiler/analysis/slice_queries.h"
#include "profiler/analysis/steps/steps.h"
#include "profiler/model/trace.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

/// A trace as a graph of dependencies: replayed with some of the work changed, and its critical path.
namespace profiler::analysis {

/// A piece of work and where it ran: host time, loader worker time, or a kernel, copy or memset.
struct ReplayWork {
    enum class Where : std::uint8_t { Host, Loader, Device };
    Where where = Where::Host;
    ActivityKind kind = ActivityKind::Other; ///< kind of the innermost slice around it; Other: no slice, self time
    StringId name;                           ///< name of that slice; 0: none
    std::string_view phase;                  ///< phase of the enclosing step, see Phases; empty: none
    SliceId slice;                           ///< that slice; meaningless if there is none
    Nanoseconds duration{};
    bool waits = false; ///< its end depends on other work: a device, a batch, or room for a batch
    SliceId cause;      ///< the last piece of that work; meaningless if it does not wait
};

/// How a what-if changes a piece of work.
struct ReplayChange {
    double factor = 1;  ///< factor for its duration: 0 removes it, ½ halves it
    bool waits = true;  ///< false: it no longer waits for its cause
    bool blocks = true; ///< false: the next piece on its thread or stream does not wait for its end
};
using WhatIf = std::function<ReplayChange(const ReplayWork&)>;

struct Replayed {
    Nanoseconds duration{};     ///< from the first work of the trace to the last
    std::vector<double> stepUs; ///< duration of each step, until all work that ended in it is done
};

/// A trace as a graph of dependencies between pieces of work, to be replayed with some of the work changed.
///
/// Order: host threads of a process that are not loader workers form one sequence, because autograd's thread works
/// while the main thread waits for it. Each worker and each stream is a separate sequence. A kernel, copy or memset
/// starts after the previous one on its stream and after the call that launched it (by correlation id). A synchronizing
/// call, a blocking copy (according to CUDA's documentation and the recording) and a wait for data or for room end when
/// the awaited work is done; so does a launch that is delayed by a full queue. The remaining time between cause and
/// effect is kept. If two causes compete, the one that was not binding uses the median delay of the cases on that
/// stream in which it was. A replay without changes therefore reproduces the trace's times exactly, and less work never
/// takes longer.
///
/// Building is O(slices · log). A replay takes O(work) time; holding the graph takes 64 bytes per piece of work.
class ReplayGraph {
public:
    /// @param alsoCut  slices other than calls, waits and phases whose host time a what-if can change, such as
    ///                 operators; empty: none
    /// @param stop  checked periodically; after a stop, the graph is empty
    static ReplayGraph of(const Trace& trace, const std::vector<Step>& steps,
                          const std::function<bool(const SliceView&)>& alsoCut = {}, const std::stop_token& stop = {});

    [[nodiscard]] Replayed replay(const WhatIf& whatIf = {}) const;
    /// Share of the device work whose launch is known; 0 without device work. Below about 0.9, a replay is not
    /// meaningful for a device.
    [[nodiscard]] double linkedShare() const;
    /// Number of pieces of work.
    [[nodiscard]] std::size_t size() const { return m_nodes.size(); }

private:
    friend class ReplayBuilder;
    friend struct CriticalPathWalk;

    static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
    struct Node {
        std::int64_t end = 0, duration = 0; ///< ns, as recorded
        std::int64_t lag = 0;               ///< ns after the previous piece of its sequence; may be negative
        std::int64_t crossLag = 0;          ///< ns after the end of `cross`
        std::int64_t own = 0;               ///< duration in ns of a wait that has nothing to wait for
        std::uint32_t cross = kNone;        ///< the other piece that it depends on
        SliceId slice;
        StringId name;
        ActivityKind kind = ActivityKind::Other;
        std::uint8_t phase = 0; ///< index into m_phases
        bool endsAfter = false; ///< `cross` delays its end instead of its start
    };
    struct Sequence {
        ReplayWork::Where where{};
        std::uint32_t begin = 0, end = 0; ///< range of nodes
    };
    struct Run {
        std::vector<std::int64_t> ends;
        std::vector<bool> crossBound; ///< whether `cross` determined the start or end of a piece
    };
    [[nodiscard]] Run run(const WhatIf& whatIf, const std::stop_token& stop = {}) const;
    [[nodiscard]] ReplayWork work(const Sequence& sequence, const Node& node) const;
    [[nodiscard]] std::vector<double> stepUs(const Run& run) const;

    std::vector<Node> m_nodes; ///< sequence by sequence, each in order
    std::vector<Sequence> m_sequences;
    std::vector<std::string_view> m_phases; ///< the first is ""
    std::vector<TimeRange> m_steps;
    std::int64_t m_begin = 0;
};

/// The time that a change saves in each steady step, in µs; negative if it costs time. Empty without steady steps.
std::vector<double> savedPerStep(const std::vector<Step>& steps, const Replayed& before, const Replayed& after);

/// The chain of work that determined the length of the trace. Work outside the chain has slack; only shortening work on
/// the chain saves time.
struct CriticalPath {
    struct Piece {
        TimeRange range;
        ReplayWork::Where where{};
        bool latency = false; ///< between a cause and its effect, for example launch or wake-up latency
    };
    struct Share {
        std::string name; ///< of the innermost slice; empty if no slice covers the piece
        ReplayWork::Where where{};
        Nanoseconds time{};
        Nanoseconds longestTime{}; ///< duration of the longest piece
        SliceId longest;           ///< slice of the longest piece; meaningless if `name` is empty
    };
    std::vector<Piece> pieces; ///< in time order, contiguous except for omitted parts
    std::vector<Share> byName; ///< largest first, without latencies
    Nanoseconds host{}, loader{}, device{}, latency{};

    [[nodiscard]] Nanoseconds total() const { return host + loader + device + latency; }
};

/// The path ends with the last work of the host or a device; work that loader workers do after that does not count.
/// @param within  restricts the path to these times; empty: no restriction
/// @param stop    checked periodically; after a stop, the result is meaningless
CriticalPath criticalPath(const Trace& trace, const ReplayGraph& graph, const Intervals& within = {},
                          const std::stop_token& stop = {});

} // namespace profiler::analysis
