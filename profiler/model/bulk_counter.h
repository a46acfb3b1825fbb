#pragma once

#include "profiler/model/block_ref.h"
#include "profiler/model/slice_spill.h"
#include "profiler/model/trace_builder.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace profiler {

/// Samples of one counter that an importer adds in any order. Samples beyond the memory budget go to a spill as sorted
/// runs, which are merged at the end.
class BulkCounter {
public:
    void add(std::vector<CounterSample>&& samples, SampleMeaning meaning);

    /// Moves the samples in memory to `spill` as one run. Samples that cannot be written stay in memory.
    void spill(SliceSpill& spill);

    struct Sealed {
        std::vector<SampleRef> spilled; ///< sorted by time
        std::uint64_t lost = 0;         ///< samples that can no longer be read
    };
    /// All samples sorted by time, with equal times in order of arrival; for a counter of changes, their running sums.
    /// If the counter spilled, the result goes to the spill as far as the spill accepts it.
    /// @param keep  called with each sample that stays in memory; these samples follow the spilled ones
    Sealed seal(SliceSpill* spill, const std::function<void(const CounterSample&)>& keep);

private:
    static constexpr std::size_t kPieceSamples = 8192; ///< samples in one piece of a run
    using Run = std::vector<SampleRef>;
    class Cursor;

    std::vector<CounterSample> takeMemory();
    Sealed merge(SliceSpill& spill, const std::function<void(const CounterSample&)>& keep);

    std::vector<std::vector<CounterSample>> m_pieces;
    std::vector<Run> m_runs;
    TraceTime m_last = TraceTime::min();
    bool m_inOrder = true;
    SampleMeaning m_meaning = SampleMeaning::Value;
};

} // namespace profiler
