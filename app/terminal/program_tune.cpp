#include "advisor/report/report.h"
#include "advisor/runner/shell_words.h"
#include "advisor/runner/unified_diff.h"
#include "advisor/tuner/program_tuner.h"
#include "advisor/tuner/tune_text.h"
#include "app/terminal/advice_json.h"
#include "app/terminal/commands.h"
#include "app/terminal/interrupt.h"
#include "app/terminal/interrupt_watch.h"
#include "app/terminal/json_text.h"
#include "app/terminal/open_trace.h"
#include "app/terminal/program_options.h"
#include "app/terminal/recordings.h"
#include "app/terminal/rule_patches.h"
#include "app/terminal/tune_output.h"

#include <fmt/format.h>

namespace app::terminal {

using namespace advisor;

namespace {

using Json = nlohmann::ordered_json;
using profiler::Error;

Json keptJson(const ProgramTuneResult& result)
{
    Json rows = Json::array();
    for (const Toggle& change : result.kept)
        rows.push_back({{"key", change.key}, {"from", change.from}, {"to", change.to}});
    return rows;
}

Json patchOf(const ProgramTuneResult& result, const ProgramSetup& setup)
{
    if (result.kept.empty())
        return nullptr;
    Json changes = Json::array(), files = Json::array();
    for (const change::ChangeResult& change : result.patch.changes)
        changes.push_back({{"key", change.key}, {"to", change.to}, {"how", change::howName(change.how)}});
    for (const change::PatchedFile& file : result.patch.files)
        files.push_back(file.path.string());
    const auto& command = result.patch.command;
    return {{"changes", std::move(changes)},
            {"files", std::move(files)},
            {"diff", runner::diffInFolder(result.patch.diff, setup.folder)},
            {"command", command.empty() ? Json(nullptr) : Json(runner::commandLine(command))},
            {"arguments", command.empty() ? Json(nullptr) : Json(command)},
            {"hooks", result.patch.hooks}};
}

Json toJson(const ProgramTuneResult& result, const ProgramSetup& setup)
{
    const ProgramReport& report = result.program;
    Json json = {{"schema", 1},
                 {"program",
                  {{"command", setup.arms[0].command},
                   {"cwd", setup.folder.string()},
                   {"isolation", runner::isolationName(setup.isolation)},
                   {"python", report.pythonVersion},
                   {"torch", report.torchVersion},
                   {"device", report.device},
                   {"ranks", report.ranks},
                   {"logs", setup.logs.string()}}},
                 {"changes", keptJson(result)},
                 {"patch", patchOf(result, setup)}};
    addOutcome(json, result);
    // The subject is a command, not a configuration.
    const Json baseline = {{"command", setup.arms[0].command}};
    for (Json& trial : json["trials"])
        if (trial["experiment"].is_object())
            trial["experiment"]["baseline"] = baseline;
    if (json["whole"].is_object())
        json["whole"]["baseline"] = baseline;
    return json;
}

std::string toText(const ProgramTuneResult& result, const ProgramSetup& setup)
{
    std::string text = trialsText(result.trials);
    text += fmt::format("{} {} ({:.0f} s spent.)\n", tuneSummary(result), result.why.text, result.secondsSpent);
    for (const change::ChangeResult& change : result.patch.changes)
        text += fmt::format("{} = {}: {}\n", change.key, change.to, howText(change));
    if (!result.patch.command.empty())
        text += fmt::format("Command: {}\n", runner::commandLine(result.patch.command));
    text += fmt::format("isolation: {}; the program's output is in {}\n", runner::isolationName(setup.isolation),
                        setup.logs.string());
    const std::string diff = runner::diffInFolder(result.patch.diff, setup.folder);
    return diff.empty() ? text : text + '\n' + diff;
}

profiler::Result<void> writeFiles(const TuneOptions& options, const ProgramTuneResult& result,
                                  const ProgramSetup& setup)
{
    if (options.output.empty())
        return {};
    // Files of an earlier tuning would be mistaken for results of this one.
    for (const char* name : {"changes.patch", "command.txt"}) {
        std::error_code none;
        std::filesystem::remove(options.output / name, none);
    }
    const std::string diff = runner::diffInFolder(result.patch.diff, setup.folder);
    if (!diff.empty())
        if (const auto written = writeText(options.output / "changes.patch", diff); !written)
            return written;
    if (!result.patch.command.empty())
        if (const auto written =
                writeText(options.output / "command.txt", runner::commandLine(result.patch.command) + '\n');
            !written)
            return written;
    ReportInput input;
    input.program = &result;
    input.title = "Tuning report";
    return writeReport(options.output / "report.html", input);
}

int failed(const Error& error, const Streams& streams)
{
    streams.err << error.message() << '\n';
    return error.code == Error::Code::Cancelled ? kInterrupted : kBadInput;
}

} // namespace

int tuneProgram(const TuneOptions& options, const Streams& streams)
{
    if (const auto made = makeOutput(options.output); !made)
        return failed(made.error(), streams);
    auto setup = programSetup(options);
    if (!setup)
        return failed(setup.error(), streams);
    catchInterrupts();
    std::stop_source stop;
    const InterruptWatch watch(stop);
    Recordings recordings; // outlives the traces
    ProgramTunePlan plan;
    plan.setup = std::move(*setup);
    plan.budget = std::chrono::seconds(options.budgetSeconds);
    plan.turn = std::chrono::milliseconds(options.turnMilliseconds);
    plan.record = [&](const ProgramSetup& program, const ProgramVariant& variant, const std::stop_token& stopped) {
        return recordings.record(program, variant, stopped);
    };
    if (!options.trace.empty()) {
        auto trace = openTrace(options.trace);
        if (!trace)
            return failed(trace.error(), streams);
        plan.trace = std::move(*trace);
    }
    const auto result = advisor::tuneProgram(plan, TuneLines(streams.err), stop.get_token());
    if (!result) {
        removeUnusedLogs(options, plan.setup);
        return failed(result.error(), streams);
    }
    // Printed before the files are written, so that a full disk does not lose minutes of measurements.
    streams.out << (options.json ? jsonText(toJson(*result, plan.setup)) + "\n" : toText(*result, plan.setup))
                << std::flush;
    if (const auto written = writeFiles(options, *result, plan.setup); !written)
        return failed(written.error(), streams);
    return kDone;
}

} // namespace app::terminal
