#include "app/terminal/commands.h"
#include "app/terminal/difference_out.h"
#include "app/terminal/job_diff.h"
#include "app/terminal/json_text.h"
#include "app/terminal/open_trace.h"
#include "app/terminal/slowdown_check.h"
#include "app/terminal/step_difference_out.h"
#include "profiler/job/job_files.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace app::terminal {

using namespace advisor;

namespace {

using namespace profiler::analysis;
using profiler::Error;
using profiler::Result;
using Steps = std::vector<Step>;

/// The steps whose numbers a hint lists.
std::string rangeHint(const Steps& steps)
{
    return steps.empty() ? std::string("leave out --step: the trace has no steps")
                         : fmt::format("use a step from {} to {}", steps.front().index, steps.back().index);
}

/// The step with the number `--step` of the first trace, and the one that it is compared with.
Result<std::pair<Step, Step>> chosenPair(const DiffOptions& options, const Steps& a, const Steps& b,
                                         const StepMatch& match)
{
    const auto chosen = std::ranges::find(a, *options.step, &Step::index);
    if (chosen == a.end())
        return profiler::fail<"diff.no_step", "the trace has no step {step}">(Error::Code::NotFound, options.a.string(),
                                                                              rangeHint(a), {{"step", *options.step}});
    const auto other = matchedStep(match, a, static_cast<std::size_t>(chosen - a.begin()), b);
    if (!other)
        return profiler::fail<"diff.no_matched_step", "no step of the trace corresponds to step {step} of the other">(
            Error::Code::NotFound, options.b.string(), rangeHint(b), {{"step", *options.step}});
    return std::pair{*chosen, b[*other]};
}

} // namespace

int diff(const DiffOptions& options, const Streams& streams)
{
    if (profiler::job::mayBeJob(std::array{options.a}) || profiler::job::mayBeJob(std::array{options.b}))
        return diffJobs(options, streams);
    const auto fails = [&](const Error& error) {
        streams.err << error.message() << '\n';
        return kBadInput;
    };
    const auto a = openTrace(options.a);
    const auto b = a ? openTrace(options.b) : a;
    if (!b)
        return fails(b.error());
    auto stepsA = chosenSteps(**a, options.steps, options.a);
    auto stepsB = stepsA ? chosenSteps(**b, options.steps, options.b) : stepsA;
    if (!stepsB)
        return fails(stepsB.error());
    if (options.step) {
        const StepMatch match = matchSteps(*stepsA, *stepsB);
        const auto pair = chosenPair(options, *stepsA, *stepsB, match);
        if (!pair)
            return fails(pair.error());
        const StepDifference found = stepDifference(**a, pair->first, **b, pair->second);
        streams.out << (options.json ? jsonText(toJson(found, match.by)) + '\n' : toText(found));
        return kDone;
    }
    const Difference found = difference(**a, **b, *stepsA, *stepsB);
    if (!options.json) {
        streams.out << toText(found);
        return reportSlowdown(options, found, nullptr, streams);
    }
    nlohmann::ordered_json json = toJson(found);
    const int status = reportSlowdown(options, found, &json, streams);
    if (status != kBadInput)
        streams.out << jsonText(json) << '\n';
    return status;
}

} // namespace app::terminal
