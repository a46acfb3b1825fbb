#include "advisor/experiment/config_error.h"
#include "advisor/experiment/trainer_process.h"
#include "advisor/report/report.h"
#include "advisor/tip_text.h"
#include "advisor/tuner/record_training.h"
#include "advisor/tuner/tune_text.h"
#include "advisor/tuner/tuned_code.h"
#include "advisor/tuner/tuner.h"
#include "app/terminal/advice_json.h"
#include "app/terminal/commands.h"
#include "app/terminal/configured.h"
#include "app/terminal/experiment_json.h"
#include "app/terminal/interrupt.h"
#include "app/terminal/interrupt_watch.h"
#include "app/terminal/json_text.h"
#include "app/terminal/recordings.h"
#include "app/terminal/tune_output.h"
#include "profiler/formats/format.h"

#include <fmt/format.h>

namespace app::terminal {

using namespace advisor;

namespace {

using Json = nlohmann::ordered_json;
using profiler::Error;

profiler::Result<std::shared_ptr<const profiler::Trace>> record(const std::filesystem::path& program,
                                                                const config::TrainingConfig& config,
                                                                const std::filesystem::path& file,
                                                                const std::stop_token& stop)
{
    if (const auto recorded = recordTraining(program, config, file, kRecordForRules, stop); !recorded)
        return tl::unexpected(recorded.error());
    return profiler::formats::openTrace(file);
}

Json codeJson(const TuneResult& result)
{
    Json rows = Json::array();
    for (const TunedCode& piece : codeToPaste(result))
        rows.push_back({{"key", piece.setting.key}, {"python", piece.python}, {"cpp", piece.cpp}});
    return rows;
}

Json toJson(const TuneResult& result)
{
    Json changes = Json::array();
    for (const config::Difference& change : config::difference(result.start, result.best))
        changes.push_back({{"key", change.key}, {"from", change.a}, {"to", change.b}});
    Json json = {{"schema", 1},
                 {"start", Json::parse(result.start.toJson())},
                 {"best", Json::parse(result.best.toJson())},
                 {"changes", changes},
                 {"code", codeJson(result)}};
    addOutcome(json, result);
    return json;
}

std::string toText(const TuneResult& result)
{
    std::string text = trialsText(result.trials);
    text += fmt::format("{} {} ({:.0f} s spent.)\n", tuneSummary(result), result.why.text, result.secondsSpent);
    const std::string code = codeText(result, tip_section::kPyTorch);
    return code.empty() ? text : text + "\nCode to copy (PyTorch):\n\n" + code;
}

/// The configuration to tune must not be overwritten.
profiler::Result<void> prepareOutput(const TuneOptions& options)
{
    std::error_code none;
    if (!options.output.empty() && std::filesystem::equivalent(options.output / "config.json", options.config, none))
        return profiler::fail<"tune.output.replaces", "The result would overwrite the configuration to tune">(
            Error::Code::Invalid, options.config.string(), "choose another folder with -o");
    return makeOutput(options.output);
}

/// Writes the configuration, the code and the report, if requested.
profiler::Result<void> writeFiles(const TuneOptions& options, const TuneResult& result)
{
    if (options.output.empty())
        return {};
    if (const auto saved = result.best.save(options.output / "config.json"); !saved)
        return tl::unexpected(configError(Error::Code::Unavailable, saved.error()));
    if (const auto written = writeText(options.output / "code.md", codeMarkdown(result)); !written)
        return written;
    ReportInput input;
    input.tuning = &result;
    input.title = "Tuning report";
    return writeReport(options.output / "report.html", input);
}

} // namespace

int tune(const TuneOptions& options, const Streams& streams)
{
    if (!options.command.empty())
        return tuneProgram(options, streams);
    const auto start = loadConfiguration(options.config, streams);
    if (!start)
        return start.error();
    if (const auto prepared = prepareOutput(options); !prepared) {
        streams.err << prepared.error().message() << '\n';
        return kBadInput;
    }
    const auto program = findTrainer();
    const TemporaryFolder folder;
    if (!program || folder.path().empty()) {
        streams.err << (program ? "No temporary folder could be created (set TMPDIR to another folder)"
                                : program.error().message())
                    << '\n';
        return kBadInput;
    }
    catchInterrupts();
    std::stop_source stop;
    const InterruptWatch watch(stop);
    TunePlan plan;
    plan.start = *start;
    plan.trainer = *program;
    plan.budget = std::chrono::seconds(options.budgetSeconds);
    int recordings = 0;
    plan.record = [&](const config::TrainingConfig& config, const std::stop_token& stopped) {
        return record(*program, config, folder.path() / fmt::format("{}.sstrace", ++recordings), stopped);
    };
    const auto result = advisor::tune(plan, TuneLines(streams.err), stop.get_token());
    if (!result) {
        streams.err << result.error().message() << '\n';
        return kBadInput;
    }
    // Printed before the files are written, so that a full disk does not lose minutes of measurements.
    streams.out << (options.json ? jsonText(toJson(*result)) + "\n" : toText(*result)) << std::flush;
    if (const auto written = writeFiles(options, *result); !written) {
        streams.err << written.error().message() << '\n';
        return kBadInput;
    }
    return kDone;
}

} // namespace app::terminal
