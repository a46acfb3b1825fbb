#include "advisor/evidence/loader_facts.h"

#include "advisor/advice.h"
#include "advisor/evidence/run_facts.h"
#include "advisor/verdict.h"
#include "profiler/analysis/intervals.h"
#include "profiler/analysis/loader/loader_work.h"

#include <algorithm>
#include <charconv>
#include <span>
#include <string_view>
#include <vector>

namespace advisor {

using namespace profiler::analysis;

namespace {

using profiler::message;

std::optional<int> recordedNumber(const RuleContext& c, std::string_view key)
{
    const std::string_view text = metadata(c.trace, key);
    int number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return !text.empty() && error == std::errc() ? std::optional(number) : std::nullopt;
}

// With fewer batches, the time to read one is too uncertain.
constexpr std::size_t kFewest = 5;

double readingUs(const profiler::Trace& trace, const LoadedBatch& batch)
{
    double us = 0;
    for (const profiler::Slice& stage : batch.stages)
        if (trace.name(stage) == profiler::stage::kRead)
            us += toUs(stage.duration);
    return us;
}

/// Mean time in µs to read a batch in these loads.
double meanReadingUs(const profiler::Trace& trace, std::span<const LoadedBatch> batches)
{
    double us = 0;
    for (const LoadedBatch& batch : batches)
        us += readingUs(trace, batch);
    return batches.empty() ? 0 : us / static_cast<double>(batches.size());
}

/// The model with other loads and with the step time changed by the difference between both replays.
InputModel withLoads(const RuleContext& c, const InputModel& model, std::vector<double> loads)
{
    LoaderSetup now{.workers = model.workers};
    if (c.config)
        now.prefetchFactor = static_cast<int>((*c.config)[config::key::prefetchFactor]);
    const int threads = computeThreads(c);
    InputModel changed = model;
    changed.loadUs = std::move(loads);
    const double before = replayStepUs(model, now, threads, CoreSharing::Even);
    const double after = replayStepUs(changed, now, threads, CoreSharing::Even);
    if (before > 0) {
        changed.stepUs = model.stepUs * after / before;
        changed.waitUs = std::max(0.0, model.waitUs - (model.stepUs - changed.stepUs));
    }
    return changed;
}

} // namespace

std::optional<Advice> littleDataWaitWithoutSteps(const RuleContext& c, double least)
{
    if (!analyzesWithoutSteps(c))
        return std::nullopt;
    const double share = c.facts.device.idleShare("data_loader");
    if (share >= least)
        return std::nullopt;
    return silent(message<"loader.without_steps", "The GPU idles for only {share} of the recorded time because it "
                                                  "waits for data. The trace has no steps, so this is not per step.">(
        {{"share", share, shareText(share)}}));
}

bool analyzesWithoutSteps(const RuleContext& c)
{
    return !c.config && c.facts.steps.empty() && c.facts.device.hasWork();
}

std::vector<profiler::analysis::Step> windowAsStep(const RuleContext& c)
{
    using profiler::TrackKind;
    const auto tracks = c.trace.tracks();
    auto thread = std::find_if(tracks.begin(), tracks.end(),
                               [](const profiler::Track& track) { return track.kind == TrackKind::MainThread; });
    if (thread == tracks.end())
        thread = std::find_if(tracks.begin(), tracks.end(),
                              [](const profiler::Track& track) { return track.kind == TrackKind::Thread; });
    if (thread == tracks.end() || c.facts.device.window.empty())
        return {};
    profiler::analysis::Step step;
    step.range = {c.facts.device.window.front().begin, c.facts.device.window.back().end};
    step.slice.track = thread->id;
    step.found = true; // without a mark of a process, all workers belong to this one
    return {step};
}

int loaderWorkers(const RuleContext& c)
{
    if (c.config)
        return static_cast<int>((*c.config)[config::key::workers]);
    return recordedNumber(c, config::key::workers.name).value_or(c.facts.input.workers);
}

std::optional<int> loaderPrefetchFactor(const RuleContext& c)
{
    if (c.config)
        return static_cast<int>((*c.config)[config::key::prefetchFactor]);
    const auto factor = recordedNumber(c, config::key::prefetchFactor.name);
    return factor.value_or(0) > 0 ? factor : std::nullopt;
}

RecordedInput recordedInput(const RuleContext& c)
{
    RecordedInput input{.model = loadModel(c.trace, c.facts.steps, c.facts.input), .cached = {}};
    if (!input.model.canPredict())
        return input;
    const std::vector<LoadedBatch> batches = loadedBatches(c.trace, c.facts.steps);
    const std::vector<std::size_t> firsts = firstOfEpochs(c);
    const profiler::TraceTime second =
        firsts.size() > 1 ? c.facts.steps[firsts[1]].range.begin : profiler::TraceTime::max();
    const auto later = std::partition_point(batches.begin(), batches.end(),
                                            [&](const LoadedBatch& batch) { return batch.range.begin < second; });
    const bool known = static_cast<std::size_t>(batches.end() - later) >= kFewest;
    const double reading = known ? meanReadingUs(c.trace, {later, batches.end()}) : 0;
    std::vector<double> loads;
    for (auto batch = batches.begin(); batch != batches.end(); ++batch) {
        const double ownUs = readingUs(c.trace, *batch);
        const bool asItIs = known && (batch >= later || ownUs <= reading);
        loads.push_back(std::max(0.0, toUs(batch->work) - (asItIs ? 0 : ownUs - reading)));
    }
    if (loads != input.model.loadUs)
        (known ? input.model : input.cached) = withLoads(c, input.model, std::move(loads));
    return input;
}

Saving savedByLoader(const RuleContext& c, const RecordedInput& input, LoaderSetup now, LoaderSetup then)
{
    const int threads = computeThreads(c);
    const InputPrediction saved = predictInput(input.model, now, then, threads);
    Saving saving = perStep(saved.lowUs, saved.midUs, saved.highUs);
    saving.ofUs = input.model.stepUs;
    if (!input.cached.canPredict() || input.cached.stepUs <= 0)
        return saving;
    // The savings are compared as shares of a step, which is shorter with files in memory.
    const InputPrediction cached = predictInput(input.cached, now, then, threads);
    const double scale = input.model.stepUs / input.cached.stepUs;
    saving.low = std::min(saved.lowUs, cached.lowUs * scale);
    saving.high = std::max(saved.highUs, cached.highUs * scale);
    saving.mid = (saving.low + saving.high) / 2;
    return saving;
}

} // namespace advisor
