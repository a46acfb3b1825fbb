#include "advisor/report/report.h"

#include "advisor/evidence/run_facts.h"
#include "app/terminal/commands.h"
#include "app/terminal/inputs.h"

#include <fmt/format.h>

namespace app::terminal {

using namespace advisor;

namespace {

/// The trace in the folder of a run, as the app stores it; a file is returned unchanged.
std::filesystem::path traceOf(const std::filesystem::path& given)
{
    std::error_code ignored;
    return std::filesystem::is_directory(given, ignored) ? given / "trace.sstrace" : given;
}

} // namespace

int report(const ReportOptions& options, const Streams& streams)
{
    const auto fail = [&](const std::string& message) {
        streams.err << message << '\n';
        return kBadInput;
    };
    std::error_code none;
    for (const auto& read : {traceOf(options.trace), options.config, options.against})
        if (!read.empty() && std::filesystem::equivalent(read, options.output, none))
            return fail("the report would overwrite one of its sources (" + options.output.string() +
                        "): choose another name");
    const auto trace = openTrace(traceOf(options.trace));
    if (!trace)
        return fail(trace.error().message());
    std::optional<config::TrainingConfig> configuration;
    if (!options.config.empty() || !metadata(**trace, "config").empty()) {
        const auto loaded = options.config.empty() ? config::TrainingConfig::fromJson(metadata(**trace, "config"),
                                                                                      "the trace's configuration")
                                                   : config::TrainingConfig::load(options.config);
        if (!loaded)
            return fail(loaded.error().message());
        configuration = *loaded;
    }
    const auto steps = chosenSteps(**trace, options.steps, options.trace);
    if (!steps)
        return fail(steps.error().message());
    std::optional<Difference> compared;
    if (!options.against.empty()) {
        const auto before = openTrace(traceOf(options.against));
        if (!before)
            return fail(before.error().message());
        const auto stepsBefore = chosenSteps(**before, options.steps, options.against);
        if (!stepsBefore)
            return fail(stepsBefore.error().message());
        compared = difference(**before, **trace, *stepsBefore, *steps);
    }
    ReportInput input;
    input.title = "Training report: " + options.trace.filename().string();
    input.trace = trace->get();
    input.steps = &*steps;
    input.config = configuration ? &*configuration : nullptr;
    input.difference = compared ? &*compared : nullptr;
    if (const auto written = writeReport(options.output, input); !written)
        return fail(written.error().message());
    streams.out << fmt::format("Report: {}\n", options.output.string());
    return kDone;
}

} // namespace app::terminal
