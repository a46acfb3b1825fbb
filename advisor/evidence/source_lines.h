#pragma once

#include "profiler/model/message.h"
#include "profiler/model/trace.h"

#include <cstdint>
#include <optional>
#include <string>
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

} // namespace advisor
