#include "app/terminal/commands.h"
#include "app/terminal/difference_out.h"
#include "app/terminal/json_text.h"
#include "app/terminal/open_trace.h"

namespace advisor::cli {

int diff(const DiffOptions& options, const Streams& streams)
{
    const auto a = openTrace(options.a);
    const auto b = a ? openTrace(options.b) : a;
    if (!b) {
        streams.err << b.error().message() << '\n';
        return kBadInput;
    }
    auto stepsA = chosenSteps(**a, options.steps, options.a);
    auto stepsB = stepsA ? chosenSteps(**b, options.steps, options.b) : stepsA;
    if (!stepsB) {
        streams.err << stepsB.error().message() << '\n';
        return kBadInput;
    }
    const Difference found = difference(**a, **b, *stepsA, *stepsB);
    if (options.json)
        streams.out << jsonText(toJson(found)) << '\n';
    else
        streams.out << toText(found);
    return kDone;
}

} // namespace advisor::cli
