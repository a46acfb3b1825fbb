#include "advisor/cli/step_choice.h"

#include "profiler/analysis/step_repetition.h"

#include <utility>

namespace advisor::cli {

using profiler::Error;

profiler::Result<std::vector<profiler::analysis::Step>>
chosenSteps(const profiler::Trace& trace, const StepChoice& choice, const std::filesystem::path& file)
{
    if (choice.repetition) {
        auto found = profiler::analysis::repeatedSteps(trace);
        if (!found.steps.empty())
            return std::move(found.steps);
        found.whyNot.pop_back(); // the full stop: more follows
        return tl::unexpected(Error{.code = Error::Code::Invalid,
                                    .what = "no steps are found by repetition: " + found.whyNot,
                                    .where = file.string(),
                                    .mend = "leave --steps-from out, or give a --step-range that the trace has"});
    }
    auto steps = profiler::analysis::findSteps(trace, choice.range);
    if (steps.empty() && !choice.range.empty())
        return tl::unexpected(Error{.code = Error::Code::NotFound,
                                    .what = "no range of the trace is called " + choice.range,
                                    .where = file.string(),
                                    .mend = "leave --step-range out, or give a name that the trace has"});
    return steps;
}

} // namespace advisor::cli
