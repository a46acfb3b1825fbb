#include "advisor/cli/commands.h"
#include "advisor/cli/open_trace.h"
#include "advisor/cli/summary.h"

namespace advisor::cli {

int summarize(const SummarizeOptions& options, const Streams& streams)
{
    const auto trace = openTrace(options.trace);
    if (!trace) {
        streams.err << trace.error().message() << '\n';
        return kBadInput;
    }
    if (!options.stepRange.empty() && profiler::analysis::findSteps(**trace, options.stepRange).empty()) {
        streams.err << "no range of the trace is called " << options.stepRange << " (" << options.trace.string()
                    << "): leave --step-range out, or give a name that the trace has\n";
        return kBadInput;
    }
    const Summary summary = summaryOf(**trace, options.stepRange);
    if (options.json)
        streams.out << toJson(**trace, summary).dump(2) << '\n';
    else
        streams.out << toText(**trace, summary);
    return kDone;
}

} // namespace advisor::cli
