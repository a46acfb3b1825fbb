#pragma once

#include "profiler/analysis/slice_view.h"
#include "profiler/analysis/steps.h"
#include "profiler/model/trace.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <stop_token>
#include <string_view>
#include <vector>

namespace profiler::analysis {

/// What ran where: a piece of a host's or a loader worker's time, or a kernel, copy or memset.
struct ReplayWork {
    enum class Where : std::uint8_t { Host, Loader, Device };
    Where where = Where::Host;
    ActivityKind kind = ActivityKind::Other; ///< of the innermost slice around it; Other: none, the program's own time
    StringId name;                           ///< of that slice; 0: none
    std::string_view phase;                  ///< of the step in which it lies, see Phases; empty: none
    SliceId slice;                           ///< that slice; meaningless without one
    Nanoseconds duration{};
    bool waits = false; ///< it ends when something elsewhere is done: a device, a batch, room for a batch
    SliceId cause;      ///< the last piece of that; meaningless where it does not wait
};

/// What a what-if does to a piece of work.
struct ReplayChange {
    double factor = 1;  ///< of its duration: 0 removes it, ½ has it done by two
    bool waits = true;  ///< false: it no longer waits for what it waited for
    bool blocks = true; ///< false: what comes next on its thread or stream does not wait for its end
};
using WhatIf = std::function<ReplayChange(const ReplayWork&)>;

struct Replayed {
    Nanoseconds duration{};     ///< from the trace's first work to its last
    std::vector<double> stepUs; ///< of each step: until all that ended in it is done
};

/// A trace as a graph of what had to be done before what, to be replayed with some of the work changed.
///
/// Order: host threads of a process that are no loader workers form one line, since the thread of autograd works while
/// the main thread waits for it; each worker and each stream is a line of its own. A kernel, copy or memset begins
/// after the one before it on its stream and after the call that launched it (by correlation); a synchronizing call, a
/// copy that blocks (by CUDA's documentation, and as it was recorded) and a wait for data or for room end when what
/// they waited for is done, and so does a launch that a full queue held up. What time is left between cause and effect
/// stays as it was; where two causes compete the one that did not bind counts with the median of where it did, on that
/// stream. So a replay without a change gives the trace's own times exactly, and less work never takes longer.
///
/// O(slices · log) to make, O(work) in time and 64 bytes a piece of work to hold and replay.
class ReplayGraph {
public:
    /// @param alsoCut  slices besides calls, waits and phases whose host time a what-if wants to change, as operators;
    ///                 empty: none
    /// @param stop  asked now and then; then the graph is empty
    static ReplayGraph of(const Trace& trace, const std::vector<Step>& steps,
                          const std::function<bool(const SliceView&)>& alsoCut = {}, const std::stop_token& stop = {});

    [[nodiscard]] Replayed replay(const WhatIf& whatIf = {}) const;
    /// Share of the device's work whose launch is known; 0 without any. Below about nine tenths a replay says little of
    /// a device.
    [[nodiscard]] double linkedShare() const;
    /// Pieces of work.
    [[nodiscard]] std::size_t size() const { return m_nodes.size(); }

private:
    friend class ReplayBuilder;
    friend struct CriticalPathWalk;

    static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
    struct Node {
        std::int64_t end = 0, duration = 0; ///< ns, as recorded
        std::int64_t lag = 0;               ///< ns after the piece before it on its line; may be negative
        std::int64_t crossLag = 0;          ///< ns after the end of `cross`
        std::int64_t own = 0;               ///< ns that a wait takes when there is nothing to wait for
        std::uint32_t cross = kNone;        ///< what else it comes after
        SliceId slice;
        StringId name;
        ActivityKind kind = ActivityKind::Other;
        std::uint8_t phase = 0; ///< index into m_phases
        bool endsAfter = false; ///< `cross` holds up its end, not its begin
    };
    struct Lane {
        ReplayWork::Where where{};
        std::uint32_t begin = 0, end = 0; ///< nodes
    };
    struct Run {
        std::vector<std::int64_t> ends;
        std::vector<bool> crossBound; ///< `cross` decided when a piece began or ended
    };
    [[nodiscard]] Run run(const WhatIf& whatIf, const std::stop_token& stop = {}) const;
    [[nodiscard]] ReplayWork work(const Lane& lane, const Node& node) const;
    [[nodiscard]] std::vector<double> stepUs(const Run& run) const;

    std::vector<Node> m_nodes; ///< line after line, each in its order
    std::vector<Lane> m_lanes;
    std::vector<std::string_view> m_phases; ///< the first is ""
    std::vector<TimeRange> m_steps;
    std::int64_t m_begin = 0;
};

/// What a change saves in each steady step, in µs; negative: it costs. Empty without steady steps.
std::vector<double> savedPerStep(const std::vector<Step>& steps, const Replayed& before, const Replayed& after);

} // namespace profiler::analysis
