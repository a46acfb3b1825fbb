#include "app/terminal/commands.h"
#include "app/terminal/job_summary.h"
#include "app/terminal/json_text.h"
#include "app/terminal/open_trace.h"
#include "app/terminal/scaling.h"
#include "app/terminal/summary.h"
#include "profiler/analysis/steps/slow_step.h"
#include "profiler/model/number_text.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <vector>

namespace app::terminal {

namespace {

using namespace profiler::analysis;

profiler::Result<SlowStep> explain(const profiler::Trace& trace, const std::vector<Step>& steps,
                                   const SummarizeOptions& options)
{
    const auto chosen = std::ranges::find_if(steps, [&](const Step& step) { return step.index == *options.whyStep; });
    if (chosen == steps.end())
        return profiler::fail<"summarize.no_step", "the trace has no step {step}">(
            profiler::Error::Code::NotFound, options.traces.front().string(),
            steps.empty() ? std::string("leave out --why-step: the trace has no steps")
                          : fmt::format("use a step from {} to {}", steps.front().index, steps.back().index),
            {{"step", *options.whyStep}});
    return whyStepIsSlow(trace, scanActivity(trace), steps, static_cast<std::size_t>(chosen - steps.begin()));
}

nlohmann::ordered_json toJson(const SlowStep& slow, profiler::TraceTime start)
{
    nlohmann::ordered_json causes = nlohmann::ordered_json::array();
    for (const SlowStepCause& cause : slow.causes)
        causes.push_back({{"excess_us", toUs(cause.excess)},
                          {"begin_us", toUs(cause.where.begin - start)},
                          {"duration_us", toUs(cause.where.duration())},
                          {"reason", messageJson(cause.reason)}});
    return {{"index", slow.step.index},
            {"duration_us", toUs(slow.step.range.duration())},
            {"median_us", toUs(slow.usual)},
            {"excess_us", toUs(slow.excess)},
            {"unexplained_us", toUs(slow.unexplained)},
            {"compared_with", slow.comparedWith},
            {"causes", causes}};
}

std::string toText(const SlowStep& slow)
{
    using profiler::timeText;
    const double us = toUs(slow.step.range.duration());
    std::string text = slow.excess.count() == 0
                           ? fmt::format("\nStep {} took {}, not longer than the median of {}\n", slow.step.index,
                                         timeText(us), timeText(toUs(slow.usual)))
                           : fmt::format("\nStep {} took {}, {} longer than the median of {}\n", slow.step.index,
                                         timeText(us), timeText(toUs(slow.excess)), timeText(toUs(slow.usual)));
    for (const SlowStepCause& cause : slow.causes)
        text += "  " + cause.reason.text + "\n";
    if (slow.unexplained.count() > 0)
        text += fmt::format("  {} have no recorded cause.\n", timeText(toUs(slow.unexplained)));
    return text;
}

} // namespace

int summarize(const SummarizeOptions& options, const Streams& streams)
{
    if (options.scaling)
        return summarizeScaling(options, streams);
    if (profiler::job::mayBeJob(options.traces))
        return summarizeJob(options, streams);
    const auto trace = openTrace(options.traces.front());
    if (!trace) {
        streams.err << trace.error().message() << '\n';
        return kBadInput;
    }
    profiler::Result<std::vector<profiler::analysis::Step>> steps;
    Summary summary = summaryOf(**trace, [&] {
        steps = chosenSteps(**trace, options.steps, options.traces.front());
        return steps.value_or(std::vector<profiler::analysis::Step>());
    });
    if (!steps) {
        streams.err << steps.error().message() << '\n';
        return kBadInput;
    }
    if (options.detailed)
        summary.detailed = profiler::analysis::detailedAnalysis(**trace, summary.steps);
    std::optional<SlowStep> slow;
    if (options.whyStep) {
        auto explained = explain(**trace, summary.steps, options);
        if (!explained) {
            streams.err << explained.error().message() << '\n';
            return kBadInput;
        }
        slow = std::move(*explained);
    }
    if (options.json) {
        auto json = toJson(**trace, summary);
        if (slow)
            json["why_step"] = toJson(*slow, (*trace)->range().begin);
        streams.out << jsonText(json) << '\n';
    } else {
        streams.out << toText(**trace, summary) << (slow ? toText(*slow) : std::string());
    }
    return kDone;
}

} // namespace app::terminal
