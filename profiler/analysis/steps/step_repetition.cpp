#include "profiler/analysis/steps/step_repetition.h"

#include "profiler/analysis/device/kernel_class.h"
#include "profiler/analysis/slice_queries.h"
#include "profiler/analysis/statistics.h"
#include "profiler/analysis/steps/steps.h"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

namespace profiler::analysis {

namespace {

/// A block that repeats in a sequence of names.
struct RepeatedBlock {
    std::vector<std::size_t> begins; ///< positions of the anchor, which occurs once per block; at least three
    std::size_t length = 0;          ///< number of names in a typical block
    double share = 0; ///< share of the blocks' pairs of neighbours that also occur in a typical block, [0, 1]
};

using Positions = std::span<const std::size_t>;

constexpr std::size_t kFewest = 3;           // two occurrences are not a repetition
constexpr double kRegular = 0.8;             // share of the distances that are near the usual one
constexpr double kNear = 0.25;               // maximum deviation, relative to the usual distance
constexpr double kLeastCovered = 0.5;        // share of the sequence
constexpr double kLeastShare = 0.8;          // share of what a block must explain
constexpr double kAsGood = 0.02;             // shares that are this close count as equal
constexpr std::size_t kMostFrequencies = 40; // each one requires a pass over the sequence

/// The positions of each pair of neighbours, by pair.
class Pairs {
public:
    explicit Pairs(std::span<const std::uint32_t> names) : m_order(names.size())
    {
        std::vector<std::uint64_t> keys(names.size());
        for (std::size_t i = 0; i < names.size(); ++i)
            keys[i] = std::uint64_t{names[i]} << 32 | (i + 1 < names.size() ? names[i + 1] : ~std::uint32_t{0});
        std::iota(m_order.begin(), m_order.end(), std::size_t{0});
        std::stable_sort(m_order.begin(), m_order.end(), [&](auto a, auto b) { return keys[a] < keys[b]; });
        for (std::size_t i = 0; i < m_order.size(); ++i)
            if (i == 0 || keys[m_order[i]] != keys[m_order[i - 1]])
                m_first.push_back(i);
        m_first.push_back(m_order.size());
    }
    [[nodiscard]] std::size_t count() const { return m_first.size() - 1; }
    /// In ascending order.
    [[nodiscard]] Positions of(std::size_t pair) const
    {
        return Positions(m_order).subspan(m_first[pair], m_first[pair + 1] - m_first[pair]);
    }

private:
    std::vector<std::size_t> m_order, m_first;
};

std::size_t medianOf(std::vector<std::size_t> values)
{
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

std::size_t usualDistance(Positions positions)
{
    std::vector<std::size_t> distances;
    for (std::size_t i = 1; i < positions.size(); ++i)
        distances.push_back(positions[i] - positions[i - 1]);
    return medianOf(std::move(distances));
}

/// True if the positions are about one usual distance apart, over most of the sequence.
bool isRegular(Positions positions, std::size_t names)
{
    if (positions.size() < kFewest)
        return false;
    const std::size_t usual = usualDistance(positions);
    std::size_t near = 0;
    for (std::size_t i = 1; i < positions.size(); ++i) {
        const std::size_t distance = positions[i] - positions[i - 1];
        const std::size_t off = distance > usual ? distance - usual : usual - distance;
        near += static_cast<double>(off) <= kNear * static_cast<double>(usual) ? 1 : 0;
    }
    // One irregular distance is tolerated, such as that of a first step.
    const auto regular = static_cast<double>(near + 1) / static_cast<double>(positions.size() - 1);
    const auto covered = static_cast<double>(positions.back() - positions.front() + usual);
    return regular > kRegular && near > 0 && covered >= kLeastCovered * static_cast<double>(names);
}

/// The share of the content of the blocks starting at `begins` that is typical for them.
double typicalShare(const Pairs& pairs, Positions begins, std::size_t names)
{
    // The first block is skipped, unless there are only two blocks; otherwise there would be nothing to compare.
    const std::size_t skipped = begins.size() > kFewest ? 1 : 0;
    const std::size_t blocks = begins.size() - 1 - skipped;
    std::vector<std::uint32_t> blockOf(names, ~std::uint32_t{0});
    for (std::size_t b = 0; b < blocks; ++b)
        std::fill(blockOf.begin() + static_cast<std::ptrdiff_t>(begins[b + skipped]),
                  blockOf.begin() + static_cast<std::ptrdiff_t>(begins[b + skipped + 1]),
                  static_cast<std::uint32_t>(b));
    std::size_t same = 0, all = 0;
    std::vector<std::size_t> counts;
    for (std::size_t pair = 0; pair < pairs.count(); ++pair) {
        counts.clear(); // occurrences per block that contains the pair
        std::uint32_t last = ~std::uint32_t{0};
        for (const std::size_t position : pairs.of(pair)) {
            const std::uint32_t block = blockOf[position];
            if (block == ~std::uint32_t{0})
                continue;
            if (counts.empty() || block != last)
                counts.push_back(0);
            ++counts.back();
            last = block;
        }
        std::sort(counts.begin(), counts.end());
        // The lower median: of two blocks, what both contain.
        const std::size_t without = blocks - counts.size(), middle = (blocks - 1) / 2;
        const std::size_t typical = middle < without ? 0 : counts[middle - without];
        for (const std::size_t count : counts) {
            same += std::min(count, typical);
            all += std::max(count, typical);
        }
        all += without * typical;
    }
    return all > 0 ? static_cast<double>(same) / static_cast<double>(all) : 0;
}

/// Positions of the closers, to find which blocks contain one and how near the last one is.
class Closers {
public:
    explicit Closers(const std::vector<bool>& closers)
    {
        for (std::size_t i = 0; i < closers.size(); ++i)
            if (closers[i])
                m_positions.push_back(i);
    }
    /// True if most blocks contain a closer, or if there are no closers at all.
    [[nodiscard]] bool endMostOf(Positions begins) const
    {
        std::size_t with = 0;
        for (std::size_t b = 0; b + 1 < begins.size(); ++b) {
            const auto next = std::lower_bound(m_positions.begin(), m_positions.end(), begins[b]);
            with += next != m_positions.end() && *next < begins[b + 1] ? 1 : 0;
        }
        return m_positions.empty() || static_cast<double>(with) >= kRegular * static_cast<double>(begins.size() - 1);
    }
    /// The usual distance to the previous closer; 0 if there is none.
    [[nodiscard]] std::size_t before(Positions begins) const
    {
        std::vector<std::size_t> distances;
        for (const std::size_t begin : begins)
            if (const auto next = std::lower_bound(m_positions.begin(), m_positions.end(), begin);
                next != m_positions.begin())
                distances.push_back(begin - *std::prev(next));
        return distances.empty() ? 0 : medianOf(std::move(distances));
    }

private:
    std::vector<std::size_t> m_positions;
};

/// Pairs with the same frequency: they have the same period, and one of them represents all.
struct Frequency {
    std::vector<std::size_t> pairs;
    double share = 0;
};

std::map<std::size_t, Frequency> regularPairs(const Pairs& pairs, const Closers& closers, std::size_t names)
{
    std::map<std::size_t, Frequency> frequencies;
    for (std::size_t pair = 0; pair < pairs.count(); ++pair)
        if (const Positions positions = pairs.of(pair); isRegular(positions, names) && closers.endMostOf(positions))
            frequencies[positions.size()].pairs.push_back(pair);
    while (frequencies.size() > kMostFrequencies) // keeps those with the most pairs
        frequencies.erase(std::min_element(frequencies.begin(), frequencies.end(), [](const auto& a, const auto& b) {
            return a.second.pairs.size() < b.second.pairs.size();
        }));
    return frequencies;
}

/// Finds the shortest block that explains the sequence. The unit of comparison is a pair of neighbouring names. Anchors
/// are pairs that occur at least three times, with four of five distances near the usual one, over more than half of
/// the sequence. Each anchor divides the sequence into blocks. The typical count of a pair is its median over the
/// blocks, and the share of the anchor is the part of the pairs that occur as often as is typical. Repetition within a
/// block (layers) therefore explains little, because the rest of the block differs. The first block does not count,
/// because libraries try their kernels there. Among the anchors whose share is at least four fifths and within two
/// hundredths of the best, the most frequent one wins. If there are closers, only anchors whose blocks contain one
/// qualify. Among equally frequent anchors, the one that follows a closer most closely wins, otherwise the one that
/// occurs first.
/// @param names    any ids; equal ids are equal names
/// @param closers  one for each position: true for names that end a block (the optimizer); may be all false
/// @return empty if nothing repeats in this way. O(n log n)
std::optional<RepeatedBlock> repeatedBlock(std::span<const std::uint32_t> names, const std::vector<bool>& closers)
{
    const Pairs pairs(names);
    const Closers ends(closers);
    auto frequencies = regularPairs(pairs, ends, names.size());
    double best = 0;
    for (auto& [count, frequency] : frequencies) {
        frequency.share = typicalShare(pairs, pairs.of(frequency.pairs.front()), names.size());
        best = std::max(best, frequency.share);
    }
    if (best < kLeastShare)
        return std::nullopt;
    const auto chosen = std::find_if(frequencies.rbegin(), frequencies.rend(), [&](const auto& row) {
        return row.second.share >= std::max(kLeastShare, best - kAsGood);
    });
    const auto earlier = [&](std::size_t a, std::size_t b) {
        const Positions atA = pairs.of(a), atB = pairs.of(b);
        return std::pair(ends.before(atA), atA.front()) < std::pair(ends.before(atB), atB.front());
    };
    const auto& same = chosen->second.pairs;
    const Positions begins = pairs.of(*std::min_element(same.begin(), same.end(), earlier));
    return RepeatedBlock{
        .begins = {begins.begin(), begins.end()}, .length = usualDistance(begins), .share = chosen->second.share};
}

/// The work of one track in order, without work that is nested in other work.
std::vector<Slice> workOf(const Trace& trace, TrackId track, ActivityKind kind)
{
    std::vector<Slice> work = sortedWhere(trace, track, [&](const SliceView& slice) {
        return slice.kind() == kind && (kind == ActivityKind::Kernel || !isProfilerStep(slice.name()));
    });
    TraceTime covered{Nanoseconds::min()};
    std::erase_if(work, [&](const Slice& slice) {
        const bool inside = kind == ActivityKind::CpuOp && slice.end() <= covered;
        covered = std::max(covered, slice.end());
        return inside;
    });
    return work;
}

/// The work of the busiest track.
std::vector<Slice> busiest(const Trace& trace, ActivityKind kind)
{
    std::optional<TrackId> most;
    Nanoseconds longest{0};
    for (const Track& track : trace.tracks()) {
        const bool fits = kind == ActivityKind::Kernel
                              ? track.kind == TrackKind::Stream
                              : track.kind == TrackKind::MainThread || track.kind == TrackKind::Thread;
        Nanoseconds time{0};
        if (fits)
            trace.forEach(track.id, kAllTime, [&](const Slice& slice) {
                if (slice.kind == kind)
                    addSaturating(time, slice.duration);
                return true;
            });
        if (time > longest) {
            longest = time;
            most = track.id;
        }
    }
    return most ? workOf(trace, *most, kind) : std::vector<Slice>();
}

std::vector<bool> optimizerWork(const Trace& trace, const std::vector<Slice>& work)
{
    std::vector<signed char> known(trace.stringCount(), -1);
    std::vector<bool> result;
    result.reserve(work.size());
    for (const Slice& slice : work) {
        signed char& answer = known[slice.name.value];
        if (answer < 0) {
            const std::string_view name = trace.name(slice);
            answer = slice.kind == ActivityKind::Kernel
                         ? kernelClass(name) == KernelClass::Optimizer
                         : name.starts_with("aten::_foreach_") || name.starts_with("aten::_fused_");
        }
        result.push_back(answer != 0);
    }
    return result;
}

/// The host call that launched the work, or the work itself.
Slice launchOf(const Trace& trace, const Slice& work)
{
    for (const Flow& flow : trace.flowsOf(work.id))
        if (flow.kind == FlowKind::Launch && flow.to == work.id)
            return trace.slice(flow.from);
    return work;
}

bool contains(std::string_view name, std::initializer_list<std::string_view> words)
{
    return std::any_of(words.begin(), words.end(), [&](auto word) { return name.find(word) != name.npos; });
}

bool isOfBackward(std::string_view name)
{
    return contains(name, {"Backward", "backward", "grad", "bwd", "bprop"});
}

/// Marks the last work that starts before each of the times.
void markBefore(const std::vector<TraceTime>& begins, std::vector<TraceTime> times, std::vector<bool>& marks)
{
    std::sort(times.begin(), times.end());
    std::size_t at = 0;
    for (const TraceTime time : times) {
        while (at + 1 < begins.size() && begins[at + 1] <= time)
            ++at;
        if (!begins.empty())
            marks[at] = true;
    }
}

/// Marks the last work that was launched before the start of each matching host slice.
void markCalls(const Trace& trace, const std::vector<Slice>& work, bool (*fits)(std::string_view name),
               std::vector<bool>& marks)
{
    NameAnswers wanted(trace, fits);
    std::vector<TraceTime> calls, launches;
    for (const Track& track : trace.tracks())
        if (track.kind == TrackKind::MainThread || track.kind == TrackKind::Thread)
            forEachView(trace, track.id, [&](const SliceView& slice) {
                if (wanted(slice.nameId()))
                    calls.push_back(slice.begin());
            });
    if (calls.empty())
        return;
    for (const Slice& slice : work) { // the launch may be unknown; work is in order
        const TraceTime at = launchOf(trace, slice).begin;
        launches.push_back(launches.empty() ? at : std::max(at, launches.back()));
    }
    markBefore(launches, std::move(calls), marks);
}

/// Marks the work of backward passes, by its name or by the operator that launched it.
std::vector<bool> backwardWork(const Trace& trace, const std::vector<Slice>& work)
{
    NameAnswers backward(trace, isOfBackward);
    std::vector<bool> result;
    result.reserve(work.size());
    for (const Slice& slice : work)
        result.push_back(backward(slice.name));
    markCalls(
        trace, work,
        [](std::string_view name) { return contains(name, {"autograd::engine::evaluate"}) || name == "backward"; },
        result);
    return result;
}

// Copies below this size are scalars, shapes or seeds, which layers need as well: 32 numbers of 8 bytes. Chosen: in
// recordings of inference on two devices, each layer copies 8 bytes. Batches of samples are larger; a training with
// smaller ones is recognised by its backward pass or its optimizer.
constexpr std::int64_t kLeastBatchBytes = 256;

/// True for a copy that may transfer a batch. Some recordings contain no sizes.
bool mayBringABatch(const Slice& copy)
{
    return copy.args.copy == CopyKind::HtoD && (copy.args.bytes >= kLeastBatchBytes || copy.args.bytes <= 0);
}

/// Marks what steps have and layers do not: the copy of a batch, a request to the data loader, or an optimizer.
void markWhatStepsHave(const Trace& trace, const std::vector<Slice>& work, std::vector<bool>& marks)
{
    std::vector<TraceTime> begins, copies;
    for (const Slice& slice : work)
        begins.push_back(slice.begin);
    const DeviceId device = trace.track(work.front().id.track).device;
    for (const Track& track : trace.tracks())
        if (track.kind == TrackKind::Stream && track.device == device)
            forEachView(trace, track.id, [&](const SliceView& slice) {
                if (slice.kind() == ActivityKind::GpuMemcpy && mayBringABatch(slice.slice()))
                    copies.push_back(slice.begin());
            });
    markBefore(begins, std::move(copies), marks);
    markCalls(
        trace, work,
        [](std::string_view name) {
            return contains(name, {"DataLoader", "Optimizer.step", "Optimizer.zero_grad"}) || name == "data wait" ||
                   name == "optimizer";
        },
        marks);
}

/// True if four of five blocks contain marks. The last block may lack what comes before its first work.
bool holdMarks(const RepeatedBlock& block, const std::vector<bool>& marks)
{
    constexpr double kMost = 0.8;
    std::size_t with = 0;
    for (std::size_t b = 0; b < block.begins.size(); ++b) {
        const std::size_t end =
            b + 1 < block.begins.size() ? block.begins[b + 1] : std::min(block.begins[b] + block.length, marks.size());
        const auto at = [&](std::size_t i) { return marks.begin() + static_cast<std::ptrdiff_t>(i); };
        with += std::find(at(block.begins[b]), at(end), true) != at(end) ? 1 : 0;
    }
    return static_cast<double>(with) >= kMost * static_cast<double>(block.begins.size() - 1);
}

/// True if little work precedes the first block. If the layers of one backward pass repeat, the whole forward pass
/// precedes the first block.
bool beginsEarly(const RepeatedBlock& block, std::size_t works)
{
    constexpr double kForward = 0.25;
    return block.begins.front() <= 2 * block.length ||
           static_cast<double>(block.begins.front()) <= kForward * static_cast<double>(works);
}

/// More steps than this are implausible for a recorded training, and each costs a query of the trace.
constexpr std::size_t kMostSteps = 200'000;

bool isOneName(std::span<const std::uint32_t> names, const RepeatedBlock& block)
{
    const auto first = names.subspan(block.begins[0], block.begins[1] - block.begins[0]);
    return std::all_of(first.begin(), first.end(), [&](std::uint32_t name) { return name == first.front(); });
}

std::vector<Step> stepsOf(const Trace& trace, const std::vector<Slice>& work, const RepeatedBlock& block)
{
    std::vector<Step> steps;
    for (const std::size_t begin : block.begins) {
        const Slice first = launchOf(trace, work[begin]);
        if (!steps.empty())
            steps.back().range.end = first.begin;
        Step step{.index = static_cast<std::int64_t>(steps.size()) + 1,
                  .range = first.range(),
                  .slice = first.id,
                  .parts = {},
                  .mark = {}};
        step.found = true;
        steps.push_back(step);
    }
    const std::size_t after = block.begins.back() + block.length;
    steps.back().range.end = launchOf(trace, work[std::min(after, work.size()) - 1]).end();
    steps.back().partial = after > work.size();
    return steps;
}

} // namespace

RepeatedSteps repeatedSteps(const Trace& trace)
{
    const auto none = [](Message why) { return RepeatedSteps{.steps = {}, .confidence = 0, .whyNot = std::move(why)}; };
    std::vector<Slice> work = busiest(trace, ActivityKind::Kernel);
    const bool kernels = !work.empty();
    if (!kernels)
        work = busiest(trace, ActivityKind::CpuOp);
    const MessageParameter unit("work", kernels ? "kernel" : "operator");
    if (work.empty())
        return none(message<"steps.no_work",
                            "The trace has neither kernels nor operators from which steps could be inferred.">());
    std::vector<std::uint32_t> names;
    names.reserve(work.size());
    for (const Slice& slice : work)
        names.push_back(slice.name.value);
    const std::vector<bool> optimizer = optimizerWork(trace, work);
    auto block = repeatedBlock(names, optimizer);
    if (!block)
        return none(
            message<"steps.rare",
                    "No sequence of {work}s repeats regularly at least three times, so no training steps can be "
                    "inferred.">({unit}));
    if (isOneName(names, *block))
        return none(message<"steps.one_name", "Only a single {work} repeats, which does not show where a step starts.">(
            {unit}));
    if (block->begins.size() > kMostSteps)
        return none(message<"steps.too_many",
                            "The repeating sequence occurs {times} times, which is too often for training steps.">(
            {{"times", block->begins.size()}}));
    if (!holdMarks(*block, optimizer)) {
        std::vector<bool> marks = optimizer;
        markWhatStepsHave(trace, work, marks);
        const bool any = std::find(marks.begin(), marks.end(), true) != marks.end();
        if (!any || !holdMarks(*block, marks)) {
            auto longer = any ? repeatedBlock(names, marks) : std::nullopt;
            if (longer && !isOneName(names, *longer) && holdMarks(*longer, marks))
                block = std::move(longer);
            else if (!beginsEarly(*block, work.size()) || !holdMarks(*block, backwardWork(trace, work)))
                return none(message<"steps.maybe_layers",
                                    "The sequence that repeats {times} times contains no batch copy, no backward "
                                    "pass and no optimizer, so it may be the layers of one step.">(
                    {{"times", block->begins.size()}}));
        }
    }
    std::vector<Step> steps = stepsOf(trace, work, *block);
    // Possible if several threads launch the work, or if the clock goes backwards.
    if (!std::is_sorted(steps.begin(), steps.end(),
                        [](const Step& a, const Step& b) { return a.range.begin < b.range.begin; }))
        return none(
            message<"steps.out_of_order", "The repeating sequence was not launched in the order in which it ran.">());
    return {.steps = withParts(trace, std::move(steps)), .confidence = block->share, .whyNot = {}};
}

RepeatedSteps detectSteps(const Trace& trace)
{
    std::vector<Step> marked = findSteps(trace);
    return marked.empty() ? repeatedSteps(trace)
                          : RepeatedSteps{.steps = std::move(marked), .confidence = 1, .whyNot = {}};
}

bool areInferred(const std::vector<Step>& steps)
{
    return !steps.empty() && steps.front().found;
}

} // namespace profiler::analysis
