#include "advisor/cli/commands.h"
#include "advisor/cli/summary.h"

namespace advisor::cli {

int summarize(const SummarizeOptions& options, const Streams& streams)
{
    const auto trace = openTrace(options.trace);
    if (!trace) {
        streams.err << trace.error().message() << '\n';
        return kBadInput;
    }
    const Summary summary = summaryOf(**trace);
    if (options.json)
        streams.out << toJson(**trace, summary).dump(2) << '\n';
    else
        streams.out << toText(**trace, summary);
    return kDone;
}

} // namespace advisor::cli
