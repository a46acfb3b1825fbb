#include "advisor/evidence/memory_use.h"

#include "advisor/advice.h"
#include "advisor/evidence/run_facts.h"
#include "advisor/prediction/saving.h"
#include "advisor/verdict.h"
#include "profiler/analysis/slice_queries.h"
#include "profiler/model/activity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <functional>
#include <map>
#include <span>
#include <unordered_map>

namespace advisor {

using namespace profiler;
using namespace profiler::analysis;

namespace {

constexpr double kFull = 0.9;   ///< share of the available memory
constexpr double kMuchMore = 2; ///< ratio of reserved to allocated memory
constexpr double kMebibyte = 1024.0 * 1024.0;

/// The device number at the start of a counter's name: "GPU 1 memory reserved" or "cuda:1 …".
std::optional<std::uint32_t> deviceOf(std::string_view name)
{
    for (const std::string_view mark : {"GPU ", "cuda:"})
        if (const auto at = name.find(mark); at != name.npos) {
            const std::string_view rest = name.substr(at + mark.size());
            std::uint32_t number = 0;
            if (std::from_chars(rest.data(), rest.data() + rest.size(), number).ec == std::errc())
                return number;
        }
    return std::nullopt;
}

double limitOf(const RuleContext& c, const Track& counter)
{
    if (const auto id = deviceOf(counter.name)) {
        for (const Device& device : c.trace.devices())
            if (device.id.value == *id)
                return static_cast<double>(device.memoryBytes);
        return 0;
    }
    const bool processors = counter.name == "memory" || counter.name == "peak memory";
    return processors && ranOnCpu(c) && c.config
               ? static_cast<double>((*c.config)[config::key::memoryLimit]) * kMebibyte
               : 0;
}

/// Counts used bytes; a counter that started at 0 with the recording does not show how full the memory is.
bool showsMemoryUse(const Track& track)
{
    return track.kind == TrackKind::Counter && track.name.find("memory") != std::string::npos &&
           (track.unit.empty() || track.unit == "bytes") && !track.name.ends_with(counter::kSinceBegin);
}

/// The memory that PyTorch and our trainer allocate from their reserved memory.
bool isAllocated(const Track& track)
{
    return track.name.ends_with(" memory allocated");
}

struct OfDevice {
    std::optional<MemoryUse> allocated, any; ///< the fullest counter of each kind
};

void take(std::optional<MemoryUse>& fullest, const RuleContext& c, const Track& track, double limit)
{
    for (const CounterSample& sample : c.trace.counter(track.id))
        if (!fullest || sample.value > fullest->peakBytes)
            fullest = MemoryUse{.peakBytes = sample.value,
                                .limitBytes = limit,
                                .where = track.name,
                                .counter = track.id,
                                .peakAt = sample.time};
}

/// Recognizes a kernel of a backward pass or an optimizer by its name, because compiled code records no operators for
/// them.
bool isOfTraining(std::string_view kernel)
{
    std::string name(kernel);
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
    const auto has = [&](std::string_view mark) { return name.find(mark) != std::string::npos; };
    return has("backward") || has("grad_input") || has("adam");
}

bool namesTraining(std::string_view name)
{
    const auto has = [name](std::string_view mark) { return name.find(mark) != name.npos; };
    return has("autograd::engine") || has("Optimizer.step") || has("Backward") || has("GraphLaunch");
}

constexpr std::string_view kHeld = " memory allocated";
std::vector<CounterSample> heldMemory(const RuleContext& c)
{
    const std::string place = ranOnCpu(c) ? "CPU" : "GPU 0";
    for (const Track& track : c.trace.tracks())
        if (track.kind == TrackKind::Counter && track.name == place + std::string(kHeld))
            return c.trace.counter(track.id);
    return {};
}

/// The samples within the range and the last one before it.
std::span<const CounterSample> within(const std::vector<CounterSample>& samples, TimeRange range)
{
    const auto before = [](const CounterSample& sample, TraceTime time) { return sample.time < time; };
    auto begin = std::lower_bound(samples.begin(), samples.end(), range.begin, before);
    const auto end = std::lower_bound(begin, samples.end(), range.end, before);
    if (begin != samples.begin())
        --begin;
    return {begin, end};
}

double most(std::span<const CounterSample> samples)
{
    double bytes = 0;
    for (const CounterSample& sample : samples)
        bytes = std::max(bytes, sample.value);
    return bytes;
}

/// The range of the phases of this name in a step; no value if there are none.
std::optional<TimeRange> phaseOf(const RuleContext& c, const Step& step, std::string_view name)
{
    std::optional<TimeRange> range;
    c.trace.forEach(step.slice.track, onHost(step), [&](const Slice& slice) {
        if (slice.kind == ActivityKind::Phase && c.trace.name(slice) == name && onHost(step).contains(slice.begin))
            range = range ? TimeRange{std::min(range->begin, slice.begin), std::max(range->end, slice.end())}
                          : slice.range();
        return true;
    });
    return range;
}

/// A step and the memory that the allocator holds during it.
struct HeldInStep {
    const Step* step = nullptr;
    TimeRange forward;
    std::span<const CounterSample> held; ///< begins with the last sample before the step
};

/// The step of a kind with the highest peak; the last one if several are equal. An epoch's last batch may be smaller.
std::optional<HeldInStep> highestStep(const RuleContext& c, const std::vector<CounterSample>& held,
                                      bool (*counts)(const Step&))
{
    std::optional<HeldInStep> highest;
    for (const Step& step : c.facts.steps) {
        const auto samples = counts(step) ? within(held, onHost(step)) : std::span<const CounterSample>();
        if (samples.size() < 3 || (highest && most(samples) < most(highest->held)))
            continue;
        if (const auto forward = phaseOf(c, step, phase::kForward))
            highest = {&step, *forward, samples};
    }
    return highest;
}

/// Consecutive cheap operators between two operators that are not recomputed.
struct Run {
    TimeRange range;
    double keptBytes = 0;              ///< memory kept after the forward pass
    double temporaryBytes = 0;         ///< additional temporary memory while it runs
    std::optional<TraceTime> backward; ///< when the backward pass reaches it
};

struct Block {
    double bytes = 0;
    std::size_t op = 0;
};

bool staysAsItIs(std::string_view op)
{
    return isMatrixProduct(op) || op.find("attention") != op.npos || op.find("embedding") != op.npos ||
           op.find("lstm") != op.npos || op.find("gru") != op.npos || op.find("rnn") != op.npos;
}

/// One step whose operators and allocations were recorded.
class Recomputation {
public:
    Recomputation(const RuleContext& c, const Step& step, TimeRange forward, std::span<const CounterSample> held)
        : m_context(c), m_step(step), m_forward(forward), m_held(held)
    {
        for (const ThreadOps& thread : c.ops())
            if (thread.track == step.slice.track)
                for (const SliceBrief& op : thread.outermost)
                    if (forward.contains(op.begin))
                        m_ops.push_back(op);
    }

    std::optional<Saving> saved()
    {
        findBlocks();
        findRuns();
        findBackward();
        const auto lacksBackward = [](const Run& run) { return run.keptBytes > 0 && !run.backward; };
        if (m_blocks.empty() || m_runs.empty() || std::any_of(m_runs.begin(), m_runs.end(), lacksBackward))
            return std::nullopt;
        return upperBound(SavingUnit::Bytes, peakSaved());
    }

private:
    /// Finds the memory that the forward pass allocates and still holds at its end, by operator.
    void findBlocks()
    {
        double before = m_held.front().value;
        for (const CounterSample& sample : m_held) {
            const double change = sample.value - before;
            before = sample.value;
            if (!m_forward.contains(sample.time))
                continue;
            if (change > 0)
                m_blocks.push_back({change, opAt(sample.time)});
            else
                forget(-change, sample.time);
        }
    }

    /// A block is freed; if several have the same size, the trace does not record which one. Within a matmul, its own
    /// latest block; otherwise the latest block that is not a matmul's, because a temporary is freed after the matmul
    /// that reads it.
    void forget(double bytes, TraceTime time)
    {
        const std::size_t now = opAt(time);
        const bool within = now < m_ops.size() && time < m_ops[now].end() && isProduct(now);
        const auto latest = [&](auto&& fits) {
            return std::find_if(m_blocks.rbegin(), m_blocks.rend(),
                                [&](const Block& block) { return block.bytes == bytes && fits(block); });
        };
        auto freed = latest([&](const Block& block) { return within ? block.op == now : !isProduct(block.op); });
        if (freed == m_blocks.rend())
            freed = latest([](const Block&) { return true; });
        if (freed != m_blocks.rend())
            m_blocks.erase(std::next(freed).base());
    }

    [[nodiscard]] bool isProduct(std::size_t op) const
    {
        return op < m_ops.size() && staysAsItIs(m_context.trace.string(m_ops[op].name));
    }

    [[nodiscard]] std::size_t opAt(TraceTime time) const
    {
        const auto after = std::upper_bound(m_ops.begin(), m_ops.end(), time,
                                            [](TraceTime t, const SliceBrief& op) { return t < op.begin; });
        return after == m_ops.begin() ? m_ops.size() : static_cast<std::size_t>(after - m_ops.begin()) - 1;
    }

    void findRuns()
    {
        std::size_t first = m_ops.size(); // of the current run; there is none before the first matmul
        for (std::size_t i = 0; i < m_ops.size(); ++i)
            if (isProduct(i)) {
                if (first < i)
                    addRun(first, i);
                first = i + 1;
            }
    }

    void addRun(std::size_t first, std::size_t end)
    {
        Run run;
        run.range = {m_ops[first].begin, m_ops[end - 1].end()};
        for (const Block& block : m_blocks)
            if (block.op >= first && block.op < end)
                run.keptBytes += block.bytes;
        const auto samples = std::find_if(m_held.begin(), m_held.end(),
                                          [&](const CounterSample& sample) { return sample.time >= run.range.begin; });
        const double before = samples == m_held.begin() ? 0 : std::prev(samples)->value;
        for (auto sample = samples; sample != m_held.end() && sample->time < run.range.end; ++sample)
            run.temporaryBytes = std::max(run.temporaryBytes, sample->value - before - run.keptBytes);
        m_runs.push_back(run);
    }

    void findBackward()
    {
        std::unordered_map<std::int64_t, Run*> runs; // by sequence number
        const auto forEachOp = [&](const std::function<void(const Slice&)>& see) {
            for (const Track& track : m_context.trace.tracks())
                if (track.kind == TrackKind::MainThread || track.kind == TrackKind::Thread)
                    m_context.trace.forEach(track.id, onHost(m_step), [&](const Slice& slice) {
                        if (slice.kind == ActivityKind::CpuOp && slice.sequence >= 0)
                            see(slice);
                        return true;
                    });
        };
        forEachOp([&](const Slice& op) {
            for (Run& run : m_runs)
                if (run.range.contains(op.begin))
                    runs.emplace(op.sequence, &run);
        });
        forEachOp([&](const Slice& op) {
            const auto found = runs.find(op.sequence);
            if (found == runs.end() || op.begin < m_forward.end)
                return;
            auto& backward = found->second->backward;
            backward = backward ? std::min(*backward, op.begin) : op.begin;
        });
    }

    /// Bytes that the peak loses without the memory that the runs keep from their end until the backward pass reaches
    /// them.
    double peakSaved() const
    {
        const auto gone = [&](TraceTime time) {
            double sum = 0;
            for (const Run& run : m_runs)
                if (run.backward && time >= run.range.end && time < *run.backward)
                    sum += run.keptBytes;
            return sum;
        };
        double peak = 0;
        for (const CounterSample& sample : m_held)
            peak = std::max(peak, sample.value - gone(sample.time));
        for (const Run& run : m_runs)
            if (run.backward && run.keptBytes > 0) {
                const auto after =
                    std::upper_bound(m_held.begin(), m_held.end(), *run.backward,
                                     [](TraceTime time, const CounterSample& sample) { return time < sample.time; });
                const double now = after == m_held.begin() ? 0 : std::prev(after)->value;
                peak = std::max(peak, now - gone(*run.backward) + run.temporaryBytes);
            }
        return most(m_held) - peak;
    }

    const RuleContext& m_context;
    const Step& m_step;
    TimeRange m_forward;
    std::span<const CounterSample> m_held;
    std::vector<SliceBrief> m_ops; // outermost operators of the forward pass
    std::vector<Block> m_blocks;   // memory that the forward pass keeps
    std::vector<Run> m_runs;
};

} // namespace

std::optional<MemoryUse> memoryUse(const RuleContext& c)
{
    std::map<std::int64_t, OfDevice> devices; // -1: the host
    for (const Track& track : c.trace.tracks()) {
        if (!showsMemoryUse(track))
            continue;
        const double limit = limitOf(c, track);
        if (limit <= 0)
            continue;
        const auto id = deviceOf(track.name);
        OfDevice& device = devices[id ? static_cast<std::int64_t>(*id) : -1];
        take(isAllocated(track) ? device.allocated : device.any, c, track, limit);
    }
    std::optional<MemoryUse> fullest;
    for (auto& [id, device] : devices) {
        MemoryUse use = device.allocated ? *device.allocated : device.any.value_or(MemoryUse{});
        if (device.allocated && device.any)
            use.reservedBytes = device.any->peakBytes;
        if (use.limitBytes > 0 && (!fullest || use.share() > fullest->share()))
            fullest = use;
    }
    return fullest;
}

Advice memoryNotRecorded(const RuleContext& c)
{
    if (!ranOnCpu(c))
        return cannotTell(
            message<"memory.not_recorded", "The trace does not record how much device memory was used.">(),
            Need::Memory);
    if (c.config)
        return cannotTell(message<"memory.no_limit", "The memory limit of the run is unknown.">(), Need::MemoryLimit);
    return cannotTell(message<"memory.machine_unknown",
                              "The memory limit is unknown: the trace does not record the machine's memory.">(),
                      Need::Program);
}

Evidence peakEvidence(const RuleContext& c, const MemoryUse& use)
{
    const TimeRange all = c.trace.range();
    const TraceTime at = std::clamp(use.peakAt, all.begin, all.end);
    return {.track = use.counter, .slice = std::nullopt, .range = {at, at}, .name = use.where};
}

std::optional<Advice> withoutFullMemory(const RuleContext& c, const std::optional<MemoryUse>& use)
{
    if (!use)
        return memoryNotRecorded(c);
    if (use->share() < kFull && use->reservedShare() >= kFull && use->reservedBytes >= kMuchMore * use->peakBytes)
        return silent(
            message<"memory.cached", "At most {allocated} of the memory was allocated; the caching allocator reserved "
                                     "{reserved}. It reuses reserved memory unless that is fragmented: "
                                     "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True prevents fragmentation.">(
                {{"allocated", use->share(), shareText(use->share())},
                 {"reserved", use->reservedShare(), shareText(use->reservedShare())}}));
    if (use->share() < kFull)
        return silent(message<"memory.not_full", "Peak memory use was {share} of the limit.">(
            {{"share", use->share(), shareText(use->share())}}));
    return std::nullopt;
}

std::optional<Advice> withoutBackward(const RuleContext& c)
{
    if (c.config || !analysis::hasKind(c.trace, ActivityKind::CpuOp))
        return std::nullopt;
    const auto isBackward = [](std::string_view phase) { return phase == phase::kBackward; };
    if (analysis::anyName(c.trace, namesTraining) ||
        !analysis::ofKindNamed(c.trace, ActivityKind::Phase, isBackward).empty() ||
        !analysis::ofKindNamed(c.trace, ActivityKind::Kernel, isOfTraining).empty())
        return std::nullopt;
    return silent(
        message<"memory.inference",
                "The trace contains no backward pass and no optimizer, so no activations are kept for them.">());
}

Advice firesOnMemory(const RuleContext& c, const MemoryUse& use, profiler::Message reason)
{
    Advice advice = fires(std::move(reason));
    advice.objective = Objective::Memory;
    advice.whyNoPrediction =
        message<"memory.activations_unknown", "The trace does not record how much of the memory holds activations "
                                              "(level full records it in steps with operators): measure it.">();
    advice.evidence = {peakEvidence(c, use)};
    return advice;
}

std::optional<Saving> savedByParts(const RuleContext& c, double parts)
{
    const std::vector<CounterSample> held = heldMemory(c);
    const auto highest = highestStep(c, held, [](const Step& step) { return !step.partial; });
    if (!highest)
        return std::nullopt;
    const double added = most(highest->held) - highest->held.front().value;
    return upperBound(SavingUnit::Bytes, added * (1 - 1 / parts));
}

std::optional<Saving> savedByRecomputing(const RuleContext& c)
{
    const std::vector<CounterSample> held = heldMemory(c);
    const auto highest = highestStep(c, held, [](const Step& step) { return step.opsRecorded && !step.partial; });
    if (!highest)
        return std::nullopt;
    return Recomputation(c, *highest->step, highest->forward, highest->held).saved();
}

} // namespace advisor
