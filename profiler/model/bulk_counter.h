#pragma once

#include "profiler/model/block_ref.h"
#include "profiler/model/slice_spill.h"
#include "profiler/model/trace_builder.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace profiler {

/// Samples of one counter that an importer gives in any order. What memory shall not hold meanwhile goes to a spill in
/// sorted runs, which are merged in the end.
class BulkCounter {
public:
    void add(std::vector<CounterSample>&& samples, SampleMeaning meaning);

    /// Moves what is in memory to `spill`, as a run. What cannot be written stays.
    void spill(SliceSpill& spill);

    struct Sealed {
        std::vector<SampleRef> spilled; ///< by time
        std::uint64_t lost = 0;         ///< samples that could not be read any more
    };
    /// All samples by time, those of one time as they came; of a counter of changes, their sums. The spill gets those
    /// of a counter that spilled, as far as it takes them.
    /// @param keep  gets what stays in memory: it follows what is spilled
    Sealed seal(SliceSpill* spill, const std::function<void(const CounterSample&)>& keep);

private:
    static constexpr std::size_t kTogether = 8192; ///< samples in a piece of a run
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
