#include "advisor/experiment/batch_by_shapes.h"

#include "profiler/analysis/slice_queries.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <vector>

namespace advisor {

using namespace profiler;
using namespace profiler::analysis;

namespace {

/// The first shape of "[[32, 3, 224, 224], [64, 3, 7, 7], …": 32, 3, 224, 224.
std::vector<std::int64_t> firstShape(std::string_view shapes)
{
    std::vector<std::int64_t> dimensions;
    if (!shapes.starts_with("[["))
        return dimensions;
    const char *at = shapes.data() + 2, *const end = shapes.data() + shapes.size();
    while (at < end && *at != ']') {
        std::int64_t number = 0;
        const auto parsed = std::from_chars(at, end, number);
        if (parsed.ec != std::errc())
            return {};
        dimensions.push_back(number);
        at = std::find_if(parsed.ptr, end, [](char c) { return c != ',' && c != ' '; });
    }
    return dimensions;
}

/// The input shapes of an operator.
struct Inputs {
    std::map<std::int64_t, std::int64_t> leading;  ///< first dimension → number of inputs
    std::set<std::vector<std::int64_t>> otherwise; ///< the dimensions between the first and the last
};

Inputs inputsOf(const Trace& trace, std::string_view op)
{
    std::map<StringId, std::int64_t> shapes;
    for (const Slice& slice :
         ofKindNamed(trace, ActivityKind::CpuOp, [op](std::string_view name) { return name == op; }))
        if (slice.args.shapes.value != 0)
            ++shapes[slice.args.shapes];
    Inputs inputs;
    for (const auto& [id, count] : shapes) {
        const std::vector<std::int64_t> shape = firstShape(trace.string(id));
        if (shape.size() < 2 || shape.front() <= 0)
            continue;
        inputs.leading[shape.front()] += count;
        inputs.otherwise.emplace(shape.begin() + 1, shape.end() - 1);
    }
    return inputs;
}

/// The most common first dimension.
std::int64_t usual(const Inputs& inputs)
{
    return std::max_element(inputs.leading.begin(), inputs.leading.end(),
                            [](const auto& a, const auto& b) { return a.second < b.second; })
        ->first;
}

} // namespace

BatchByShapes batchByShapes(const Trace& a, const Trace& b)
{
    constexpr std::string_view kLinear = "aten::linear";
    for (const std::string_view op : {std::string_view("aten::conv2d"), std::string_view("aten::_convolution"),
                                      std::string_view("aten::conv1d"), std::string_view("aten::conv3d"), kLinear}) {
        const Inputs inA = inputsOf(a, op), inB = inputsOf(b, op);
        if (inA.leading.empty() || inB.leading.empty())
            continue;
        const std::int64_t samplesA = usual(inA), samplesB = usual(inB);
        if (samplesA == samplesB)
            return {};
        if (op != kLinear || (inA.leading.size() == 1 && inB.leading.size() == 1 && inA.otherwise == inB.otherwise))
            return {message<"diff.not_comparable.batch_by_shapes",
                            "The inputs of {operator} show different batch sizes: {a} and {b}.">(
                        {{"operator", op}, {"a", samplesA}, {"b", samplesB}}),
                    true};
        return {message<"diff.note.batch_by_shapes",
                        "The batch sizes may differ: most inputs of {operator} start with {a} and {b}. Sequences in "
                        "the first dimension or packed tokens would also explain this.">(
                    {{"operator", op}, {"a", samplesA}, {"b", samplesB}}),
                false};
    }
    return {};
}

} // namespace advisor
