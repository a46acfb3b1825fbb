#pragma once

#include "advisor/advice.h"
#include "profiler/analysis/call_tree/call_tree.h"
#include "profiler/analysis/intervals.h"
#include "profiler/model/message.h"
#include "profiler/model/trace.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Where the training thread of a recorded Python program spent its time, by lines of the user's files, by time and as
/// a call tree, derived from the call stacks that the hooks sampled (resources/python/stepscope/lines.py).
namespace advisor {

/// Memory allocated for tensors: on the CPU by the training thread, on GPUs by the process.
struct LineAllocations {
    std::int64_t bytes = 0, count = 0;
};

struct SourceLine {
    std::string file, function;
    int line = 0;
    int loopBegin = 0, loopEnd = 0; ///< lines of the outermost loop of its function that contains it and runs within a
                                    ///< step; 0: none, or not known
    std::int64_t samples = 0;       ///< with this line innermost
    double selfUs = 0;              ///< host time with this line as the innermost user line
    double totalUs = 0;             ///< host time with this line anywhere in the stack
    double waitUs = 0;              ///< the part of selfUs spent waiting for data or for the device
    std::optional<double> deviceUs; ///< time of the kernels, copies and memsets that it launched; no value: no device
                                    ///< worked
    std::optional<LineAllocations> allocations; ///< with this line innermost; no value: not recorded
};

enum class AllocationSource { NotRecorded, Sampled, Exact };

struct SourceLines {
    std::vector<SourceLine> lines; ///< longest total first
    double sampledUs = 0;          ///< time covered by samples
    double outsideUs = 0;          ///< the part of it outside the user's files
    double costUs = 0;             ///< time that sampling took
    double intervalUs = 0;
    std::int64_t samples = 0;
    AllocationSource allocations = AllocationSource::NotRecorded;
    profiler::Message problem; ///< why there are no lines; empty if there are
};
/// @param within  limits samples and host times to these times, without device times; null: no limit. Allocations are
///                always those of the whole trace.
SourceLines sourceLines(const profiler::Trace& trace, const profiler::analysis::Intervals* within = nullptr);

/// The same samples by time. Immutable and thread-safe.
class SourceTimes {
public:
    explicit SourceTimes(const profiler::Trace& trace);
    ~SourceTimes();
    SourceTimes(const SourceTimes&) = delete;
    SourceTimes& operator=(const SourceTimes&) = delete;

    /// Times in which the training thread executed a line or a function called from it; sorted and disjoint.
    [[nodiscard]] std::vector<profiler::TimeRange> rangesOf(std::string_view file, int line) const;
    /// The innermost user line when a slice began; for device work, when it was launched. No value if the line was not
    /// sampled or the slice belongs to another thread.
    [[nodiscard]] std::optional<SourcePlace> placeOf(const profiler::Slice& slice) const;

private:
    struct Data;
    std::unique_ptr<const Data> m;
};

/// True if the trace contains the calls that the grouping needs, recorded or, for Python functions, sampled.
bool hasCallsOrSamples(const profiler::Trace& trace, profiler::analysis::CallGrouping grouping);

/// The calls of a trace, as profiler::analysis::callTree() reads them. If a trace has no Python functions but samples
/// of the user's lines, as recordings of Python programs do, the calls of the Python grouping come from these: a name
/// is "file(line): function", its time is that of its samples, and it has no number of calls. Device work is below the
/// innermost user line at its launch.
/// @param stop  checked periodically; after a stop, the result is meaningless
profiler::analysis::CallTree callsOrSamples(const profiler::Trace& trace,
                                            const profiler::analysis::CallTreeOptions& options,
                                            const std::stop_token& stop = {});

} // namespace advisor
