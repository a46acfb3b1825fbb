#include "advisor/experiment/result_text.h"
#include "advisor/experiment/trainer_process.h"
#include "advisor/report/report.h"
#include "advisor/runner/shell_words.h"
#include "advisor/runner/unified_diff.h"
#include "advisor/tips.h"
#include "advisor/tuner/program_tuner.h"
#include "advisor/tuner/tune_text.h"
#include "advisor/tuner/tuner.h"
#include "app/terminal/advise.h"
#include "app/terminal/commands.h"
#include "app/terminal/experiment.h"
#include "app/terminal/inputs.h"
#include "app/terminal/interrupt.h"
#include "app/terminal/measured_program.h"
#include "app/terminal/output.h"
#include "profiler/formats/format.h"
#include "profiler/model/result.h"
#include "profiler/os/files.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <ostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace app::terminal {

using namespace advisor;

namespace {

using Json = nlohmann::ordered_json;
using profiler::Error;

/// Prints progress, one line per activity.
class TuneLines {
public:
    explicit TuneLines(std::ostream& err) : m_err(err) {}
    void operator()(const advisor::TuneProgress& state);

private:
    std::ostream& m_err;
    std::string m_said;
};

constexpr std::size_t kReasonWidth = 110;

/// "round 2, loader.workers = 2: pair 4 of at most 20".
std::string lineOf(const TuneProgress& state)
{
    std::string text = fmt::format("round {}", state.round);
    if (state.trying)
        text += fmt::format(", {} = {}", state.trying->key, state.trying->to);
    return text + ": " + state.doing;
}

void TuneLines::operator()(const TuneProgress& state)
{
    std::string line = lineOf(state);
    if (line != m_said)
        m_err << fmt::format("{} · {:.0f} s spent", line, state.secondsSpent) << std::endl;
    m_said = std::move(line);
}

/// The table of tried changes, each with the reason for its verdict below; empty without trials.
std::string trialsText(const std::vector<TuneTrial>& trials)
{
    if (trials.empty())
        return {};
    TextTable table({"Change", "Verdict", "Samples/s (95 %)", "Measured (95 %)", "Predicted"});
    for (const TuneTrial& trial : trials) {
        std::vector<std::string> row = {changesText(trial), std::string(trialVerdict(trial)), "–", "–",
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
        // Notes on the measurement are in the report and in the JSON.
        std::string why = trial.why.text;
        for (const profiler::Message& note : trial.notes)
            why += ' ' + note.text;
        if (!why.empty())
            text += wrapped(why, kReasonWidth, 6);
    }
    return text;
}

/// Adds the trials, the ratio, the measurement of the total, and why tuning ended.
void addOutcome(Json& json, const TuneOutcome& result)
{
    Json trials = Json::array();
    for (const TuneTrial& trial : result.trials) {
        Json with = Json::array();
        for (const Toggle& change : trial.with)
            with.push_back(toggleJson(change));
        trials.push_back({{"change", toggleJson(trial.change)},
                          {"with", std::move(with)},
                          {"rule", trial.rule},
                          {"title", trial.title},
                          {"outcome", outcomeName(trial.outcome)},
                          {"why", trial.whyText()},
                          {"why_id", trial.why.id},
                          {"why_parameters", parametersJson(trial.why)},
                          {"predicted", savingJson(trial.predicted)},
                          {"experiment", trial.result ? terminal::toJson(*trial.result) : Json(nullptr)}});
    }
    json["samples_per_s_ratio"] = {{"value", result.ratio.value},
                                   {"ci95", Json::array({result.ratio.low, result.ratio.high})},
                                   {"measured", isRatioMeasured(result)}};
    json["whole"] = result.whole ? terminal::toJson(*result.whole) : Json(nullptr);
    json["trials"] = std::move(trials);
    json["stopped"] = result.stopped;
    json["why"] = result.why.text;
    json["why_id"] = result.why.id;
    json["why_parameters"] = parametersJson(result.why);
    json["seconds_spent"] = result.secondsSpent;
}

/// Creates the folder before tuning, not after an hour of it. Does nothing without a name.
profiler::Result<void> makeOutput(const std::filesystem::path& folder)
{
    if (folder.empty())
        return {};
    std::error_code failed;
    std::filesystem::create_directories(folder, failed);
    if (failed)
        return profiler::fail<"tune.output.not_made", "The folder could not be created: {why}">(
            Error::Code::Unavailable, folder.string(), "choose another folder with -o", {{"why", failed.message()}});
    if (!profiler::os::canWrite(folder))
        return profiler::fail<"tune.output.permission", "The folder is not writable">(
            Error::Code::Permission, folder.string(), "choose another folder with -o");
    return {};
}

profiler::Result<void> writeText(const std::filesystem::path& path, const std::string& text)
{
    std::ofstream file(path, std::ios::binary);
    if (file << text << std::flush)
        return {};
    return profiler::fail<"tune.output.unwritten", "The file cannot be written">(
        Error::Code::Unavailable, path.string(), "choose a folder with free disk space with -o");
}

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
    if (auto written = writeText(options.output / "code.md", codeMarkdown(result)); !written)
        return written;
    ReportInput input;
    input.tuning = &result;
    input.title = "Tuning report";
    return writeReport(options.output / "report.html", input);
}

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
        if (auto written = writeText(options.output / "changes.patch", diff); !written)
            return written;
    if (!result.patch.command.empty())
        if (auto written = writeText(options.output / "command.txt", runner::commandLine(result.patch.command) + '\n');
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
    const profiler::os::TemporaryFolder folder(profiler::os::temporaryPath("stepscope-tune-"));
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
