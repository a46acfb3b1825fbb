#include "app/terminal/slowdown_check.h"

#include "advisor/report/svg_chart.h"

#include <fmt/format.h>
#include <fstream>

namespace app::terminal {

using namespace advisor;

using profiler::message;

SlowdownCheck checkSlowdown(const Difference& difference, double percent)
{
    if (!difference.whyNot.empty())
        return {false, difference.whyNot.front()};
    if (!difference.statistic || difference.statistic->stepUs.a <= 0)
        return {
            false,
            message<"slowdown.no_steps", "One of the traces has no complete steps, so step times cannot be compared.">(
                {})};
    const Difference::Statistic& statistic = *difference.statistic;
    if (!statistic.ci95 || statistic.ci95->first <= 0 || statistic.stepUs.b <= 0)
        return {false, message<"slowdown.no_interval",
                               "The traces have too few steps for an interval: record at least two in each.">({})};
    // The statistic's ratio is a / b; the limit is for b / a.
    const auto longer = [](double ratio) { return (1 / ratio - 1) * 100; };
    const auto shown = [](double change) { return fmt::format("{:+.1f} %", change); };
    const double change = longer(statistic.stepUs.ratio()), low = longer(statistic.ci95->second),
                 high = longer(statistic.ci95->first);
    const std::string limit = fmt::format("{:g} %", percent);
    if (low > percent)
        return {false,
                message<"slowdown.beyond_limit",
                        "A step takes {change} time (95 % interval {low} to {high}); the limit is {limit} more.">(
                    {{"change", change, shown(change)},
                     {"low", low, shown(low)},
                     {"high", high, shown(high)},
                     {"limit", percent, limit}})};
    return {true,
            message<"slowdown.within_limit",
                    "No slowdown beyond {limit} is shown: {change} time per step (95 % interval {low} to {high}).">(
                {{"limit", percent, limit},
                 {"change", change, shown(change)},
                 {"low", low, shown(low)},
                 {"high", high, shown(high)}})};
}

std::string junitText(const SlowdownCheck& check, double percent)
{
    const std::string why = svg::escaped(check.why.text);
    return fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                       "<testsuites tests=\"1\" failures=\"{0}\">\n"
                       "  <testsuite name=\"stepscope\" tests=\"1\" failures=\"{0}\">\n"
                       "    <testcase classname=\"stepscope.diff\" name=\"step time, limit {1:g} %\">\n"
                       "      {2}\n"
                       "    </testcase>\n"
                       "  </testsuite>\n"
                       "</testsuites>\n",
                       check.passed ? 0 : 1, percent,
                       check.passed ? "<system-out>" + why + "</system-out>"
                                    : "<failure type=\"" + svg::escaped(check.why.id) + "\" message=\"" + why + "\"/>");
}

int reportSlowdown(const DiffOptions& options, const Difference& difference, nlohmann::ordered_json* json,
                   const Streams& streams)
{
    if (!options.failIfSlower)
        return kDone;
    const SlowdownCheck check = checkSlowdown(difference, *options.failIfSlower);
    if (json)
        (*json)["check"] = {{"passed", check.passed}, {"why_id", check.why.id}, {"why", check.why.text}};
    else
        streams.out << '\n' << check.why.text << '\n';
    if (!options.junit.empty()) {
        std::ofstream file(options.junit, std::ios::binary);
        if (!(file << junitText(check, *options.failIfSlower) << std::flush)) {
            const profiler::Error error{profiler::Error::Code::Io,
                                        message<"slowdown.unwritten", "the file cannot be written">({}),
                                        options.junit.string(), "choose another file with --junit"};
            streams.err << error.message() << '\n';
            return kBadInput;
        }
    }
    return check.passed ? kDone : kSlower;
}

} // namespace app::terminal
