#include "app/terminal/commands.h"
#include "app/terminal/json_text.h"
#include "app/terminal/open_trace.h"
#include "app/terminal/summary.h"

#include <vector>

namespace advisor::cli {

int summarize(const SummarizeOptions& options, const Streams& streams)
{
    const auto trace = openTrace(options.trace);
    if (!trace) {
        streams.err << trace.error().message() << '\n';
        return kBadInput;
    }
    profiler::Result<std::vector<profiler::analysis::Step>> steps;
    Summary summary = summaryOf(**trace, [&] {
        steps = chosenSteps(**trace, options.steps, options.trace);
        return steps.value_or(std::vector<profiler::analysis::Step>());
    });
    if (!steps) {
        streams.err << steps.error().message() << '\n';
        return kBadInput;
    }
    if (options.detailed)
        summary.detailed = profiler::analysis::detailedAnalysis(**trace, summary.steps);
    if (options.json)
        streams.out << jsonText(toJson(**trace, summary)) << '\n';
    else
        streams.out << toText(**trace, summary);
    return kDone;
}

} // namespace advisor::cli
