#include "advisor/cli/advice_json.h"
#include "advisor/cli/commands.h"
#include "advisor/cli/configured.h"
#include "advisor/cli/experiment_json.h"
#include "advisor/cli/interrupt.h"
#include "advisor/cli/interrupt_watch.h"
#include "advisor/cli/json_text.h"
#include "advisor/cli/recordings.h"
#include "advisor/cli/text_table.h"
#include "advisor/experiment/config_error.h"
#include "advisor/experiment/held_prediction.h"
#include "advisor/experiment/result_text.h"
#include "advisor/experiment/trainer_process.h"
#include "advisor/report/report.h"
#include "advisor/tip_text.h"
#include "advisor/tuner/record_training.h"
#include "advisor/tuner/tune_text.h"
#include "advisor/tuner/tuned_code.h"
#include "advisor/tuner/tuner.h"
#include "profiler/io/formats/format.h"

#include <fmt/format.h>
#include <fstream>
#include <sstream>
#include <unistd.h>

namespace advisor::cli {

namespace {

using Json = nlohmann::ordered_json;
using profiler::Error;

constexpr std::size_t kReasonWidth = 110;

profiler::Result<std::shared_ptr<const profiler::Trace>> record(const std::filesystem::path& program,
                                                                const config::TrainingConfig& config,
                                                                const std::filesystem::path& file,
                                                                const std::stop_token& stop)
{
    if (const auto recorded = recordTraining(program, config, file, kRecordForRules, stop); !recorded)
        return tl::unexpected(recorded.error());
    return profiler::formats::openTrace(file);
}

/// "round 2, loader.workers = 2: pair 4 of at most 20".
std::string lineOf(const TuneProgress& state)
{
    std::string text = fmt::format("round {}", state.round);
    if (state.trying)
        text += fmt::format(", {} = {}", state.trying->key, state.trying->to);
    return text + ": " + state.doing;
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
    Json trials = Json::array();
    for (const TuneTrial& trial : result.trials)
        trials.push_back({{"change", toggleJson(trial.change)},
                          {"rule", trial.rule},
                          {"title", trial.title},
                          {"outcome", outcomeName(trial.outcome)},
                          {"why", trial.whyText()},
                          {"why_id", trial.why.id},
                          {"why_parameters", parametersJson(trial.why)},
                          {"predicted", savingJson(trial.predicted)},
                          {"experiment", trial.result ? cli::toJson(*trial.result) : Json(nullptr)}});
    Json changes = Json::array();
    for (const config::Difference& change : config::difference(result.start, result.best))
        changes.push_back({{"key", change.key}, {"from", change.a}, {"to", change.b}});
    return {{"schema", 1},
            {"start", Json::parse(result.start.toJson())},
            {"best", Json::parse(result.best.toJson())},
            {"changes", changes},
            {"samples_per_s_ratio",
             {{"value", result.ratio.value},
              {"ci95", Json::array({result.ratio.low, result.ratio.high})},
              {"measured", isRatioMeasured(result)}}},
            {"whole", result.whole ? cli::toJson(*result.whole) : Json(nullptr)},
            {"trials", trials},
            {"code", codeJson(result)},
            {"stopped", result.stopped},
            {"why", result.why.text},
            {"why_id", result.why.id},
            {"why_parameters", parametersJson(result.why)},
            {"seconds_spent", result.secondsSpent}};
}

/// The table of what was tried, each row with the reason for its verdict below it.
std::string trialsText(const std::vector<TuneTrial>& trials)
{
    TextTable table({"Change", "Verdict", "Samples/s (95 %)", "Measured (95 %)", "Predicted"});
    for (const TuneTrial& trial : trials) {
        std::vector<std::string> row = {trial.change.key + " = " + trial.change.to, std::string(trialVerdict(trial)),
                                        "–", "–",
                                        predictedText(trial.result ? predictedHere(*trial.result) : trial.predicted)};
        if (trial.result) {
            row[2] = ratioText(trial.result->samplesPerSecond);
            row[3] = measuredText(*trial.result);
        }
        table.add(std::move(row));
    }
    std::istringstream rows(table.text());
    std::string text, row;
    std::getline(rows, row); // the header
    text += row + '\n';
    for (const TuneTrial& trial : trials) {
        std::getline(rows, row);
        text += row + '\n';
        if (!trial.why.empty())
            text += wrapped(trial.whyText(), kReasonWidth, 6);
    }
    return text;
}

std::string toText(const TuneResult& result)
{
    std::string text = result.trials.empty() ? std::string() : trialsText(result.trials);
    text += fmt::format("{} {} ({:.0f} s spent.)\n", tuneSummary(result), result.why.text, result.secondsSpent);
    const std::string code = codeText(result, tip_section::kPyTorch);
    return code.empty() ? text : text + "\nTo paste, in PyTorch:\n\n" + code;
}

profiler::Result<void> writeText(const std::filesystem::path& path, const std::string& text)
{
    std::ofstream file(path, std::ios::binary);
    if (file << text << std::flush)
        return {};
    return profiler::fail<"tune.output.unwritten", "The file cannot be written">(
        Error::Code::Unavailable, path.string(), "choose a folder that has room with -o");
}

/// The folder must be there before an hour of tuning, not after it; and the configuration that is tuned must stay.
profiler::Result<void> prepareOutput(const TuneOptions& options)
{
    if (options.output.empty())
        return {};
    std::error_code failed;
    std::filesystem::create_directories(options.output, failed);
    if (failed)
        return profiler::fail<"tune.output.not_made", "The folder cannot be made: {why}">(
            Error::Code::Unavailable, options.output.string(), "choose another with -o", {{"why", failed.message()}});
    if (::access(options.output.c_str(), W_OK) != 0)
        return profiler::fail<"tune.output.permission", "The folder is not writable">(
            Error::Code::Permission, options.output.string(), "choose another with -o");
    std::error_code none;
    if (std::filesystem::equivalent(options.output / "config.json", options.config, none))
        return profiler::fail<"tune.output.replaces", "The result would replace the configuration that is tuned">(
            Error::Code::Invalid, options.config.string(), "choose another folder with -o");
    return {};
}

/// The configuration, the code and the report, where they are asked for.
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

int tuneTraining(const TuneOptions& options, const Streams& streams)
{
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
        streams.err << (program ? "There is no room for temporary files (set TMPDIR)" : program.error().message())
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
    std::string said;
    const auto result = tune(
        plan,
        [&](const TuneProgress& state) {
            std::string line = lineOf(state);
            if (line != said)
                streams.err << fmt::format("{} · {:.0f} s spent", line, state.secondsSpent) << std::endl;
            said = std::move(line);
        },
        stop.get_token());
    if (!result) {
        streams.err << result.error().message() << '\n';
        return kBadInput;
    }
    // Said before it is written: what was measured for minutes must not be lost to a full disk.
    streams.out << (options.json ? jsonText(toJson(*result)) + "\n" : toText(*result)) << std::flush;
    if (const auto written = writeFiles(options, *result); !written) {
        streams.err << written.error().message() << '\n';
        return kBadInput;
    }
    return kDone;
}

} // namespace advisor::cli
