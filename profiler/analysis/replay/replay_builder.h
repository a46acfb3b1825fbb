#pragma once

#include "profiler/analysis/replay/replay.h"
#include "profiler/analysis/steps/phases.h"

#include <optional>
#include <stop_token>

namespace profiler::analysis {

/// Whether a copy call returns only after the copy is complete.
enum class HostWait : std::uint8_t { Never, UnlessAsync, Always };

/// Builds the graph of one trace: first the sequences, then the dependencies between them.
class ReplayBuilder {
public:
    ReplayBuilder(const Trace& trace, const std::function<bool(const SliceView&)>& alsoCut,
                  const std::stop_token& stop);
    ReplayGraph build(const std::vector<Step>& steps);

private:
    /// A slice that divides a host sequence into pieces.
    struct Entry {
        std::int64_t begin = 0, end = 0;
        SliceId slice;
        StringId name;
        ActivityKind kind{};
        std::uint8_t phase = 0;
        std::uint64_t correlation = 0; ///< of a call
    };
    struct Link {
        std::uint64_t correlation;
        std::uint32_t node;
    };
    struct WaitedCopy {
        std::uint64_t correlation;
        std::uint32_t node;
        HostWait wait;
    };
    struct End {
        std::int64_t end;
        std::uint32_t node;
    };

    class FullQueue;

    static bool earlier(const Link& a, const Link& b);
    std::uint8_t phaseIndex(std::string_view phase);
    void collect(const Track& track, std::vector<Entry>& entries);
    void addThreadBuffer(std::vector<Entry> entries, ReplayWork::Where where);
    void closeUpTo(std::int64_t time);
    void cut(std::int64_t time);
    void addStream(const Track& track);
    [[nodiscard]] bool stopped() const { return m_stop.stop_requested(); }
    bool addSequences();
    [[nodiscard]] std::optional<std::uint32_t> launchOf(std::uint64_t correlation) const;
    void setDeviceLags(const ReplayGraph::Sequence& sequence);
    void waitFor(std::uint32_t node, const std::vector<End>& ends);
    void setWait(ReplayGraph::Node& waiting, std::uint32_t cause);
    void linkWaits();
    void linkBlockingCopies();
    void setOwnTimes();

    const Trace& m_trace;
    Phases m_names;
    const std::function<bool(const SliceView&)>& m_alsoCut;
    const std::stop_token& m_stop;
    /// By string id: synchronizing call, copy call, asynchronous copy call, step mark.
    std::vector<bool> m_sync, m_copies, m_copiesAsync, m_marks;
    ReplayGraph m_graph;
    std::vector<const Entry*> m_open; ///< the enclosing slices, outermost first
    std::int64_t m_position = 0;
    std::vector<Link> m_launches;   ///< the piece that ends at the start of a call
    std::vector<Link> m_callPieces; ///< pieces inside a call
    std::vector<WaitedCopy> m_waitedCopies;
};

} // namespace profiler::analysis
