#include "app/terminal/commands.h"
#include "app/terminal/difference_out.h"
#include "app/terminal/json_text.h"
#include "app/terminal/open_trace.h"
#include "app/terminal/slowdown_check.h"

#include <fstream>

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
    nlohmann::ordered_json json;
    if (options.json)
        json = toJson(found);
    else
        streams.out << toText(found);
    int status = kDone;
    if (options.failIfSlower) {
        const SlowdownCheck check = checkSlowdown(found, *options.failIfSlower);
        status = check.passed ? kDone : kSlower;
        if (options.json)
            json["check"] = {{"passed", check.passed}, {"why_id", check.why.id}, {"why", check.why.text}};
        else
            streams.out << '\n' << check.why.text << '\n';
        if (!options.junit.empty()) {
            std::ofstream file(options.junit, std::ios::binary);
            if (!(file << junitText(check, *options.failIfSlower) << std::flush)) {
                streams.err << options.junit.string() << ": cannot be written: choose another file with --junit\n";
                return kBadInput;
            }
        }
    }
    if (options.json)
        streams.out << jsonText(json) << '\n';
    return status;
}

} // namespace advisor::cli
