#include "profiler/analysis/difference/step_difference.h"

#include "profiler/analysis/difference/step_match.h"
#include "profiler/analysis/operators/self_times.h"
#include "profiler/analysis/slice_queries.h"
#include "profiler/analysis/steps/phases.h"
#include "profiler/analysis/steps/step_marks.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <map>
#include <string_view>
#include <utility>

namespace profiler::analysis {

namespace {

using Row = StepDifference::Row;

struct Part {
    std::string_view name;
    Nanoseconds StepParts::*time;
};
constexpr std::array<Part, 8> kParts = {{{phase::kDataWait, &StepParts::dataWait},
                                         {phase::kCopy, &StepParts::copy},
                                         {phase::kZeroGrad, &StepParts::zeroGrad},
                                         {phase::kForward, &StepParts::forward},
                                         {phase::kBackward, &StepParts::backward},
                                         {phase::kOptimizer, &StepParts::optimizer},
                                         {phase::kMetrics, &StepParts::metrics},
                                         {"other", &StepParts::other}}};

struct Total {
    std::int64_t count = 0;
    Nanoseconds time{}, longestTime{-1};
    std::optional<SliceId> longest;

    void add(SliceId slice, Nanoseconds counted, Nanoseconds duration)
    {
        ++count;
        time += counted;
        if (duration > longestTime) {
            longestTime = duration;
            longest = slice;
        }
    }
};

/// Everything in one step, by kind and name.
using Totals = std::map<std::pair<ActivityKind, std::string>, Total, std::less<>>;

class StepTotals {
public:
    StepTotals(const Trace& trace, const Step& step) : m_trace(trace), m_step(step) {}

    Totals run()
    {
        addPhases();
        addOperators();
        forEachDeviceWorkOf(
            m_trace, m_step, [&](const Track& track) { return isOfSameProcess(m_trace, track, {m_step}); }, {},
            [&](const Slice& work) { sumOf(work.kind, work.name).add(work.id, work.duration, work.duration); });
        for (const auto& [key, total] : m_byName) {
            const auto [kind, name] = key;
            m_totals[{kind, std::string(m_trace.string(StringId{name}))}] = total;
        }
        return std::move(m_totals);
    }

private:
    Total& sumOf(ActivityKind kind, StringId name) { return m_byName[{kind, name.value}]; }

    void addPhases()
    {
        for (const Part& part : kParts)
            if (const Nanoseconds time = m_step.parts.*part.time; time.count() > 0) {
                Total& total = m_totals[{ActivityKind::Phase, std::string(part.name)}];
                total.count = 1;
                total.time = time;
            }
        const Phases names(m_trace);
        for (const Track& track : m_trace.tracks())
            if (isHostTrack(track))
                m_trace.forEach(track.id, m_step.range, [&](const Slice& slice) {
                    const std::string_view name = names.of(slice);
                    if (name.empty() || !m_step.range.contains(slice.begin))
                        return true;
                    const auto found = m_totals.find(std::pair{ActivityKind::Phase, std::string(name)});
                    if (found != m_totals.end() && slice.duration > found->second.longestTime) {
                        found->second.longestTime = slice.duration;
                        found->second.longest = slice.id;
                    }
                    return true;
                });
    }

    void addOperators()
    {
        for (const Track& track : m_trace.tracks()) {
            if (!isHostTrack(track))
                continue;
            std::vector<Slice> ops;
            m_trace.forEach(track.id, m_step.range, [&](const Slice& slice) {
                if (slice.kind == ActivityKind::CpuOp && m_step.range.contains(slice.begin))
                    ops.push_back(slice);
                return true;
            });
            sortByNesting(ops);
            forEachNested(ops, [&](const Nested& op) {
                sumOf(ActivityKind::CpuOp, op.slice->name).add(op.slice->id, op.self, op.slice->duration);
            });
        }
    }

    [[nodiscard]] bool isHostTrack(const Track& track) const
    {
        return (track.kind == TrackKind::MainThread || track.kind == TrackKind::Thread) &&
               isOfSameProcess(m_trace, track, {m_step});
    }

    const Trace& m_trace;
    const Step& m_step;
    std::map<std::pair<ActivityKind, std::uint32_t>, Total> m_byName; ///< by kind and string id
    Totals m_totals;
};

} // namespace

StepDifference stepDifference(const Trace& a, const Step& stepA, const Trace& b, const Step& stepB)
{
    std::map<std::pair<ActivityKind, std::string>, Row> rows;
    const auto rowOf = [&](const std::pair<ActivityKind, std::string>& key) -> Row& {
        Row& row = rows[key];
        row.kind = key.first;
        row.name = key.second;
        return row;
    };
    for (const auto& [key, total] : StepTotals(a, stepA).run()) {
        Row& row = rowOf(key);
        row.countA = total.count;
        row.a = total.time;
        row.longestA = total.longest;
    }
    for (const auto& [key, total] : StepTotals(b, stepB).run()) {
        Row& row = rowOf(key);
        row.countB = total.count;
        row.b = total.time;
        row.longestB = total.longest;
    }
    StepDifference difference{stepA, stepB, {}};
    for (auto& [key, row] : rows)
        difference.rows.push_back(std::move(row));
    std::ranges::stable_sort(difference.rows, [](const Row& x, const Row& y) {
        return std::chrono::abs(x.change()) > std::chrono::abs(y.change());
    });
    return difference;
}

} // namespace profiler::analysis
