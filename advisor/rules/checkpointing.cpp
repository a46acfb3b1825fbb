#include "advisor/memory_use.h"
#include "advisor/numbers.h"
#include "advisor/run_facts.h"
#include "advisor/verdict.h"
#include "profiler/analysis/memory_holders.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace advisor::rules {
namespace {

constexpr std::string_view kKey = "checkpointing";
// What `cheap` computes again: all that is no product, convolution or recurrent layer, as far as it is large.
constexpr std::array<std::string_view, 17> kQuick = {"aten::relu",
                                                     "aten::gelu",
                                                     "aten::sigmoid",
                                                     "aten::tanh",
                                                     "aten::erf",
                                                     "aten::mul",
                                                     "aten::add",
                                                     "aten::div",
                                                     "aten::softmax",
                                                     "aten::masked_fill",
                                                     "aten::dropout",
                                                     "aten::layer_norm",
                                                     "aten::batch_norm",
                                                     "aten::cat",
                                                     "aten::group_norm",
                                                     "aten::max_pool2d",
                                                     "aten::upsample_nearest3d"};

/// Bytes that the quick operators of the forward pass held at the peak; 0: not known. Cheap parts free all of it but
/// what the next block reads, and the backward pass may have a peak of its own: no more than a bound.
std::int64_t mostSaved(const Case& c)
{
    for (const profiler::analysis::MemoryMoment& moment : profiler::analysis::memoryMoments(c.trace)) {
        if (moment.ranOut || (moment.place == "CPU") != ranOnCpu(c))
            continue;
        std::int64_t bytes = 0;
        for (const profiler::analysis::MemoryHolder& holder : moment.alive)
            if (!holder.rest && holder.phase == profiler::phase::kForward &&
                std::find(kQuick.begin(), kQuick.end(), holder.op) != kQuick.end())
                bytes += holder.bytes;
        if (bytes > 0)
            return bytes;
    }
    return 0;
}

Advice check(const Case& c)
{
    if (c.config && (*c.config)[config::key::checkpointing] != "off")
        return silent("Activations are recomputed already.");
    const auto use = memoryUse(c);
    if (auto none = withoutFullMemory(c, use))
        return *none;
    if (auto none = withoutBackward(c))
        return *none;
    Advice advice = firesOnMemory(c, *use,
                                  fmt::format("Memory was {} full, and every activation is kept for the backward pass.",
                                              shareText(use->share())));
    if (const std::int64_t most = mostSaved(c); most > 0)
        advice.whyNoPrediction = fmt::format("By this trace it saves at most {}: measure it.", bytesText(most));
    advice.caveats = {
        "It costs time: what is recomputed runs once more, of all about a whole forward pass.",
        "The second run must draw the same random numbers, and batch norm must count its statistics once."};
    setToggle(advice, c, kKey, "cheap");
    return advice;
}

} // namespace

Rule checkpointing()
{
    return {kKey, "Activations fill the memory", check};
}

} // namespace advisor::rules
