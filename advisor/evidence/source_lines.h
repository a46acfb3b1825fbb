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

/// Where the training thread of a recorded Python program spent its time, by the lines of the user's files: from the
/// call stacks that the hooks sampled (resources/python/stepscope/lines.py).
namespace advisor {

struct SourceLine {
    std::string file, function;
    int line = 0;
    std::int64_t samples = 0;       ///< with the line innermost
    double selfUs = 0;              ///< host time with the line innermost of the user's
    double totalUs = 0;             ///< host time with the line anywhere in the stack
    double waitUs = 0;              ///< of selfUs: in waits for data and for the device
    std::optional<double> deviceUs; ///< of kernels, copies and memsets that it launched; none: no device worked
};

struct SourceLines {
    std::vector<SourceLine> lines; ///< longest total first
    double sampledUs = 0;          ///< that the samples cover
    double outsideUs = 0;          ///< of it: outside the user's files
    double costUs = 0;             ///< that sampling took
    double intervalUs = 0;
    std::int64_t samples = 0;
    profiler::Message problem; ///< why there are none; empty where there are
};
SourceLines sourceLines(const profiler::Trace& trace);

/// The same samples by time. Immutable; any thread.
class SourceTimes {
public:
    explicit SourceTimes(const profiler::Trace& trace);
    ~SourceTimes();
    SourceTimes(const SourceTimes&) = delete;
    SourceTimes& operator=(const SourceTimes&) = delete;

    /// When the training thread was at a line, or in what the line calls; in order, apart from each other.
    [[nodiscard]] std::vector<profiler::TimeRange> rangesOf(std::string_view file, int line) const;
    /// The user's innermost line when a slice began; of work on a device, when it was launched. None: the line was not
    /// sampled, or the slice is one of another thread.
    [[nodiscard]] std::optional<SourcePlace> placeOf(const profiler::Slice& slice) const;

private:
    struct Data;
    std::unique_ptr<const Data> m;
};

} // namespace advisor
