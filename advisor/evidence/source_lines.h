#pragma once

#include "advisor/source_place.h"
#include "profiler/model/message.h"
#include "profiler/model/trace.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Where the training thread of a recorded Python program spent its time, by lines of the user's files, derived from
/// the call stacks that the hooks sampled (resources/python/stepscope/lines.py).
namespace advisor {

/// Memory allocated for tensors: on the CPU by the training thread, on GPUs by the process.
struct LineAllocations {
    std::int64_t bytes = 0, count = 0;
};

struct SourceLine {
    std::string file, function;
    int line = 0;
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
SourceLines sourceLines(const profiler::Trace& trace);

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

} // namespace advisor
