#include "app/terminal/experiment.h"

#include "advisor/advice.h"
#include "advisor/change/program_setup.h"
#include "advisor/experiment/experiment.h"
#include "advisor/experiment/program_experiment.h"
#include "advisor/experiment/result_text.h"
#include "advisor/knob_changes.h"
#include "advisor/rule.h"
#include "advisor/runner/shell_words.h"
#include "advisor/runner/unified_diff.h"
#include "app/terminal/advise.h"
#include "app/terminal/commands.h"
#include "app/terminal/inputs.h"
#include "app/terminal/interrupt.h"
#include "app/terminal/measured_program.h"
#include "app/terminal/output.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <iterator>
#include <sstream>
#include <utility>

namespace app::terminal {

using namespace advisor;

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using profiler::Error;
using profiler::Result;

/// JSON has no infinity and NaN; null stands for values that were not measured.
Json ci95(const Interval& interval)
{
    return interval.isKnown() ? Json::array({interval.low, interval.high}) : Json(nullptr);
}

Json speed(double samplesPerSecond)
{
    return samplesPerSecond > 0 ? Json(samplesPerSecond) : Json(nullptr);
}

Json changesJson(const std::vector<Toggle>& changes)
{
    Json rows = Json::array();
    for (const Toggle& change : changes)
        rows.push_back(toggleJson(change));
    return rows;
}

/// Time per unit in each arm. With equal numbers of samples, its ratio a / b is the ratio b / a of the throughput.
/// Because of noise, it differs from the ratio of the two times, which are means over all turns; the field therefore
/// names the statistic.
Json unitJson(const ExperimentResult& result, std::string_view measure)
{
    if (result.plan.measure != measure || result.unitUsB <= 0)
        return nullptr;
    // A diff or another command has no known keys, but its batches are known.
    bool sameSamples = !result.plan.isChangeUnknown || result.loss.at == LossCheck::At::SameBatches;
    for (const Toggle& change : result.plan.changes)
        if (const config::Knob* knob = config::findKnob(change.key);
            knob && knob->batches == config::Batches::OtherSize)
            sameSamples = sameSamples && !config::changesBatches(*knob, change.from, change.to);
    return {{"a", result.unitUsA},
            {"b", result.unitUsB},
            {"ratio", sameSamples ? result.samplesPerSecond.value : result.unitUsA / result.unitUsB},
            {"ci95", sameSamples ? ci95(result.samplesPerSecond) : Json(nullptr)},
            {"ratio_of", sameSamples ? "geometric mean over pairs" : "a and b"}};
}

/// Differences are a − b: above zero, the change has the lower loss.
Json equalTimeJson(const std::optional<LossAtEqualTime>& losses)
{
    if (!losses || losses->seeds.empty())
        return nullptr;
    Json seeds = Json::array();
    for (const Pair& seed : losses->seeds)
        seeds.push_back({{"a", seed.a}, {"b", seed.b}});
    return {{"a", losses->a},
            {"b", losses->b},
            {"difference", losses->saved.value},
            {"ci95", ci95(losses->saved)},
            {"ratio", losses->ratio.value},
            {"ratio_ci95", ci95(losses->ratio)},
            {"of", losses->validation ? "validation" : "training"},
            {"seconds", losses->seconds},
            {"seeds", std::move(seeds)},
            {"diverged", {{"a", losses->diverged[0]}, {"b", losses->diverged[1]}}}};
}

Json bytesJson(std::int64_t bytes)
{
    return bytes > 0 ? Json(bytes) : Json(nullptr);
}

std::string_view unitName(std::string_view measure)
{
    return savingUnitName(measure == "epoch"        ? SavingUnit::UsPerEpoch
                          : measure == "validation" ? SavingUnit::UsPerValidation
                                                    : SavingUnit::UsPerStep);
}

std::string_view objectiveName(const ExperimentPlan& plan)
{
    if (isScreening(plan))
        return "screening at equal time";
    return plan.objective == Objective::Memory ? "memory" : "step time";
}

Json lossJson(const LossCheck& loss)
{
    const bool compared = loss.kind != LossKind::NotCompared;
    return {{"a", loss.a},
            {"b", loss.b},
            {"parity", compared ? Json(loss.kind == LossKind::NotWorse) : Json(nullptr)},
            {"tolerance", loss.tolerance()},
            {"kind", lossKindName(loss.kind)},
            {"margin", loss.margin},
            {"highest", compared && std::isfinite(loss.highest) ? Json(loss.highest) : Json(nullptr)},
            {"steps", loss.steps},
            {"seeds", loss.seeds},
            {"seeds_vary", loss.seedsVary},
            {"at", loss.at == LossCheck::At::EqualTime ? "equal time" : "same batches"}};
}

Json knownOrNull(double value)
{
    return value > 0 ? Json(value) : Json(nullptr);
}

Json conditionsJson(const TurnConditions& turns)
{
    Json processes = Json::array();
    for (const CpuShare& share : turns.others)
        if (processes.size() < 5)
            processes.push_back({{"name", share.name}, {"cores", share.cores}});
    return {{"arms_cores", turns.ownCores},
            {"others_cores", turns.otherCores},
            {"processes", std::move(processes)},
            {"clock_mhz", turns.clockLow > 0 ? Json::array({turns.clockLow, turns.clockHigh}) : Json(nullptr)},
            {"hottest_celsius", knownOrNull(turns.hottest)},
            {"throttled", turns.throttled},
            {"major_faults", turns.majorFaults},
            {"read_bytes", turns.readBytes},
            {"swapped_bytes", turns.swappedBytes}};
}

/// The conditions of the turns that count and, under "disturbed", those of the disturbed turns.
Json noiseJson(const NoiseReport& noise)
{
    Json json = conditionsJson(noise.turns);
    json["pairs_repeated"] = noise.repeatedPairs;
    json["pairs_disturbed"] = noise.disturbedPairs;
    json["cores"] = noise.cores;
    const bool isDisturbed = noise.repeatedPairs + noise.disturbedPairs > 0;
    json["disturbed"] = isDisturbed ? conditionsJson(noise.disturbed) : Json(nullptr);
    return json;
}

Json warmUpJson(const WarmUpReport& report)
{
    const auto arm = [](const WarmUpReport::OfArm& warm) {
        return Json{{"steps", warm.steps}, {"seconds", warm.seconds}, {"ended", warm.ended}, {"causes", warm.causes}};
    };
    return {{"a", arm(report.arms[0])}, {"b", arm(report.arms[1])}, {"limit_s", report.limitSeconds}};
}

Json rescaledJson(const std::array<std::vector<RescaledSetting>, 2>& rescaled)
{
    Json rows = Json::array();
    for (const std::size_t arm : {0, 1})
        for (const RescaledSetting& setting : rescaled[arm])
            rows.push_back(
                {{"arm", arm == 0 ? "a" : "b"}, {"key", setting.key}, {"from", setting.from}, {"to", setting.to}});
    return rows;
}

/// The quantity that the verdict is about.
Json measuredJson(const ExperimentResult& result)
{
    const bool screens = result.lossAtEqualTime && isScreening(result.plan);
    if (screens && result.lossAtEqualTime->seeds.empty())
        return nullptr;
    if (screens)
        return {{"unit", "loss"},
                {"value", result.lossAtEqualTime->saved.value},
                {"ci95", ci95(result.lossAtEqualTime->saved)}};
    if (result.plan.objective == Objective::Memory)
        return {{"unit", savingUnitName(SavingUnit::Bytes)},
                {"value", result.savedBytes.value},
                {"ci95", ci95(result.savedBytes)}};
    return {{"unit", unitName(result.plan.measure)}, {"value", result.savedUs.value}, {"ci95", ci95(result.savedUs)}};
}

void printLosses(const LossAtEqualTime& losses, std::ostream& out)
{
    if (!losses.saved.isKnown())
        return;
    out << fmt::format("screening at equal time: {} loss {:.4g} against {:.4g} after {:.3g} s: lower by {:.3g} (95 % "
                       "interval {:.3g} to {:.3g}, {} seeds)\n",
                       losses.validation ? "validation" : "training", losses.b, losses.a, losses.seconds,
                       losses.saved.value, losses.saved.low, losses.saved.high, losses.seeds.size());
}

void printSaved(const ExperimentResult& result, std::ostream& out)
{
    const bool memory = result.plan.objective == Objective::Memory;
    if (!(memory ? result.savedBytes : result.savedUs).isKnown())
        return;
    const Interval& saved = memory ? result.savedBytes : result.savedUs;
    const std::string whole = memory ? bytesText(result.peakBytesA) + " peak tensor memory" : timeText(result.unitUsA);
    if (saved.value >= 0) {
        out << fmt::format("saves {} of {}", measuredText(result), whole);
    } else {
        ExperimentResult added = result;
        added.savedBytes = added.savedUs = {-saved.value, -saved.high, -saved.low};
        out << fmt::format("adds {} to {}", measuredText(added), whole);
    }
    if (const auto predicted = predictedHere(result))
        out << "; predicted: " << predictedText(predicted);
    out << '\n';
}

void printNoise(const NoiseReport& noise, std::ostream& out)
{
    out << fmt::format("other programs used {:.2f} of {:.0f} cores during the turns", noise.turns.otherCores,
                       noise.cores);
    if (!noise.turns.others.empty() && noise.turns.others.front().cores >= kDisturbedShare)
        out << fmt::format(" ({} {:.2f})", noise.turns.others.front().name, noise.turns.others.front().cores);
    out << '\n';
}

std::string_view measureOf(SavingUnit unit)
{
    return unit == SavingUnit::UsPerEpoch ? "epoch" : unit == SavingUnit::UsPerValidation ? "validation" : "steps";
}

bool areSame(const std::vector<Toggle>& one, const std::vector<Toggle>& other)
{
    return std::is_permutation(one.begin(), one.end(), other.begin(), other.end(),
                               [](const Toggle& a, const Toggle& b) { return a.key == b.key && a.to == b.to; });
}

/// The saving that the trace's advice predicts for the changes; if it predicts none, the reason is printed to `err`.
std::optional<Saving> predicted(const profiler::Trace& trace, const ExperimentPlan& plan, std::ostream& err)
{
    std::string why = "its advice contains no such change";
    for (const RuleAdvice& row : advise(trace, &plan.baseline)) {
        const auto& toggle = row.advice.toggle;
        if (!toggle || !areSame(changesOf(*toggle, plan.baseline), plan.changes))
            continue;
        const auto& saving = row.advice.saving;
        if (!saving)
            why = row.advice.whyNoPrediction.text;
        else if ((saving->unit == SavingUnit::Bytes) != (plan.objective == Objective::Memory) ||
                 (saving->unit != SavingUnit::Bytes && measureOf(saving->unit) != plan.measure))
            why = "its advice is about another quantity than the one measured";
        else
            return saving;
    }
    err << "No prediction from the trace: " << why << '\n';
    return std::nullopt;
}

tl::expected<ExperimentPlan, int> planOf(const ExperimentOptions& options, const Streams& streams)
{
    auto baseline = loadConfiguration(options.config, streams);
    if (!baseline)
        return tl::unexpected(baseline.error());
    const auto changed = withAssignments(*baseline, options.assignments, streams);
    if (!changed)
        return tl::unexpected(changed.error());
    ExperimentPlan plan;
    plan.baseline = *baseline;
    for (const config::Difference& difference : config::difference(*baseline, *changed))
        plan.changes.push_back({difference.key, difference.a, difference.b});
    // An explicit --measure always selects time as the objective.
    plan.objective = options.measure.empty() ? objectiveOf(plan.changes) : Objective::Time;
    plan.measure = !options.measure.empty()            ? options.measure
                   : plan.objective == Objective::Time ? measureOf(plan.changes)
                                                       : "steps";
    plan.budget = std::chrono::seconds(options.budgetSeconds);
    plan.horizon = std::chrono::seconds(options.horizonSeconds);
    plan.turn = std::chrono::milliseconds(options.turnMilliseconds);
    if (options.horizonSeconds > 0 && !isScreening(plan) && sameBatches(plan.changes))
        streams.err << "--horizon has no effect: the objective of this change is "
                    << (plan.objective == Objective::Memory ? "memory" : "time") << ", not by the loss at equal time\n";
    if (!options.trace.empty()) {
        const auto trace = openTrace(options.trace);
        if (!trace) {
            streams.err << trace.error().message() << '\n';
            return tl::unexpected(kBadInput);
        }
        plan.predicted = predicted(**trace, plan, streams.err);
    }
    return plan;
}

/// Objects that live as long as the command runs.
struct Session {
    std::ostream& err;
    std::stop_token stop;
    Recordings recordings = {};
};

Result<std::string> readText(const fs::path& path)
{
    std::ifstream file(path, std::ios::binary);
    std::string text((std::istreambuf_iterator<char>(file)), {});
    if (!file)
        return profiler::fail<"file.not_read", "The file cannot be read">(Error::Code::NotFound, path.string(),
                                                                          "check its path");
    return text;
}

Result<std::vector<change::WantedChange>> wantedChanges(const std::vector<std::string>& assignments)
{
    std::vector<change::WantedChange> changes;
    for (const std::string& assignment : assignments) {
        const std::size_t equals = assignment.find('=');
        if (equals == std::string::npos || equals == 0)
            return profiler::fail<"experiment.program.assignment", "{assignment} is not key=value">(
                Error::Code::Invalid, "--set", "write --set loader.workers=4", {{"assignment", assignment}});
        changes.push_back({assignment.substr(0, equals), assignment.substr(equals + 1)});
    }
    return changes;
}

/// The recording that --trace names; otherwise, a new one.
Result<std::shared_ptr<const profiler::Trace>> recordingOf(const ExperimentOptions& options, const ProgramSetup& setup,
                                                           Session& session)
{
    if (!options.trace.empty())
        return openTrace(options.trace);
    session.err << "recording the program to find its settings (--trace uses an existing recording)" << std::endl;
    return session.recordings.record(setup, setup.arms[0], session.stop);
}

/// Sets arm B from --set, with the program's objects as recorded.
Result<void> addSettings(const ExperimentOptions& options, ProgramPlan& plan, Session& session)
{
    const auto wanted = wantedChanges(options.assignments);
    if (!wanted)
        return tl::unexpected(wanted.error());
    const auto trace = recordingOf(options, plan.setup, session);
    if (!trace)
        return tl::unexpected(trace.error());
    return change::setChanges(plan, **trace, {.changes = *wanted, .kept = {}, .advice = nullptr, .patcher = {}});
}

/// Sets arm B from --set, --patch or --against.
Result<void> addChange(const ExperimentOptions& options, ProgramPlan& plan, Session& session)
{
    if (!options.assignments.empty())
        return addSettings(options, plan, session);
    if (!options.against.empty())
        return change::setCommand(plan, options.against);
    if (options.patch.empty())
        return {};
    auto diff = readText(options.patch);
    if (!diff)
        return tl::unexpected(diff.error());
    return change::setDiff(plan, std::move(*diff));
}

Result<ProgramPlan> planOf(const ExperimentOptions& options, Session& session)
{
    ProgramPlan plan;
    auto setup = programSetup(options);
    if (!setup)
        return tl::unexpected(setup.error());
    plan.setup = std::move(*setup);
    plan.budget = std::chrono::seconds(options.budgetSeconds);
    plan.turn = std::chrono::milliseconds(options.turnMilliseconds);
    plan.horizon = std::chrono::seconds(options.horizonSeconds);
    if (const auto changed = addChange(options, plan, session); !changed) {
        removeUnusedLogs(options, plan.setup);
        return tl::unexpected(changed.error());
    }
    if (!options.measure.empty())
        change::setMeasure(plan, options.measure);
    return plan;
}

void print(const ProgramPlan& plan, const ProgramResult& result, std::ostream& out)
{
    const ProgramSetup& setup = plan.setup;
    out << "A: " << runner::commandLine(setup.arms[0].command) << '\n';
    if (setup.arms[1].command != setup.arms[0].command)
        out << "B: " << runner::commandLine(setup.arms[1].command) << '\n';
    for (const runner::ReplacedFile& file : setup.arms[1].files)
        out << "B: with another " << file.path.string() << '\n';
    // The user knows a diff of their own.
    if (!plan.changes.empty()) {
        std::istringstream diff(runner::diffInFolder(plan.patch.diff, setup.folder));
        for (std::string line; std::getline(diff, line);)
            out << "    " << line << '\n';
    }
    if (plan.patch.how.empty())
        out << "B: unchanged\n";
    if (result.isRefused) {
        out << fmt::format("{}: {}\n", verdictName(result), result.measured.whyText());
        for (const std::string& line : result.program.failure->traceback)
            out << "    " << line << '\n';
        for (const PatchedLine& line : result.patchedLines)
            out << fmt::format("changed line: {}:{}: {}\n", line.file.string(), line.line, line.text);
    } else {
        printResult(result.measured, out);
    }
    out << fmt::format("isolation: {}; the arms' output is in {}\n", runner::isolationName(setup.isolation),
                       setup.logs.string());
}

} // namespace

Json toJson(const ExperimentResult& result)
{
    const ExperimentPlan& plan = result.plan;
    Json json = {{"schema", 1}, {"baseline", Json::parse(plan.baseline.toJson())}};
    json["change"] = plan.changes.empty() ? Json(nullptr) : toggleJson(plan.changes.front());
    json["changes"] = changesJson(plan.changes);
    json["pairs"] = result.pairs.size();
    json["one_at_a_time"] = result.isSequential;
    json["judged_by"] = objectiveName(plan.objective);
    json["samples_per_s"] = {{"a", speed(result.samplesPerSecondA)},
                             {"b", speed(result.samplesPerSecondB)},
                             {"ratio", result.samplesPerSecond.value},
                             {"ci95", ci95(result.samplesPerSecond)}};
    json["step_us"] = unitJson(result, "steps");
    json["epoch_us"] = unitJson(result, "epoch");
    json["validation_us"] = unitJson(result, "validation");
    json["loss"] = lossJson(result.loss);
    json["loss_at_equal_time"] = equalTimeJson(result.lossAtEqualTime);
    json["peak_bytes"] = {{"a", bytesJson(result.peakBytesA)}, {"b", bytesJson(result.peakBytesB)}, {"of", "tensors"}};
    json["verdict"] = verdictName(result.verdict);
    json["why"] = result.whyText();
    json["predicted"] = savingJson(plan.predicted);
    json["predicted_here"] = savingJson(predictedHere(result));
    const auto held = predictionHeld(result);
    json["prediction_held"] = held ? Json(*held) : Json(nullptr);
    json["measured"] = measuredJson(result);
    json["seconds_spent"] = result.secondsSpent;
    json["objective"] = objectiveName(plan);
    json["horizon_s"] = result.lossAtEqualTime ? Json(result.lossAtEqualTime->seconds) : Json(nullptr);
    json["rescaled"] = rescaledJson(result.rescaled);
    json["why_id"] = result.why.id;
    json["why_parameters"] = parametersJson(result.why);
    json["notes"] = messagesJson(result.notes);
    json["noise"] = noiseJson(result.noise);
    json["warm_up"] = warmUpJson(result.warmUp);
    return json;
}

Json toJson(const ProgramPlan& plan, const ProgramResult& result)
{
    Json json = toJson(result.measured);
    const ProgramSetup& setup = plan.setup;
    const ProgramReport& report = result.program;
    json["baseline"] = {{"command", setup.arms[0].command}};
    json["verdict"] = verdictName(result);
    json["peak_bytes"]["of"] = report.device == "cpu" ? "process" : "tensors";
    json["program"] = {
        {"command", setup.arms[0].command},
        {"cwd", setup.folder.string()},
        {"isolation", runner::isolationName(setup.isolation)},
        {"restarts", report.restarts[0] + report.restarts[1]},
        {"seeded", report.seeded},
        {"python", report.pythonVersion},
        {"torch", report.torchVersion},
        {"device", report.device},
        {"ranks", report.ranks},
        {"logs", {{"a", (setup.logs / kBaselineLog).string()}, {"b", (setup.logs / kChangeLog).string()}}}};
    const ProgramDifference& patch = plan.patch;
    json["patch"] = {{"how", patch.how},
                     {"diff", patch.diff.empty() ? Json(nullptr) : Json(patch.diff)},
                     {"command", patch.command.empty() ? Json(nullptr) : Json(patch.command)},
                     {"measurable", true}};
    Json lines = Json::array();
    for (const PatchedLine& line : result.patchedLines)
        lines.push_back({{"file", line.file.string()}, {"line", line.line}, {"text", line.text}});
    json["patched_lines"] = std::move(lines);
    json["traceback"] = result.isRefused ? Json(report.failure->traceback) : Json(nullptr);
    return json;
}

void printProgress(const ExperimentProgress& progress, std::ostream& err)
{
    err << progress.doing;
    if (const auto& saved = progress.savedLoss)
        err << fmt::format(" · loss lower by {:.3g} ({:.3g} to {:.3g})", saved->value, saved->low, saved->high);
    else if (progress.ratio)
        err << fmt::format(" · {:.3f} × ({:.3f} to {:.3f})", progress.ratio->value, progress.ratio->low,
                           progress.ratio->high);
    err << fmt::format(" · {:.0f} s spent, at most {:.0f} s left", progress.secondsSpent, progress.secondsLeft)
        << std::endl;
}

void printResult(const ExperimentResult& result, std::ostream& out)
{
    for (const Toggle& change : result.plan.changes)
        out << (change.from.empty() ? fmt::format("{}: {}\n", change.key, change.to)
                                    : fmt::format("{}: {} against {}\n", change.key, change.to, change.from));
    const Interval& ratio = result.samplesPerSecond;
    out << fmt::format("{}: {}\n", verdictName(result.verdict), result.whyText());
    if (ratio.isKnown())
        out << fmt::format("{:.0f} against {:.0f} samples/s: {:.3f} × (95 % interval {:.3f} to {:.3f}, {} pairs)\n",
                           result.samplesPerSecondB, result.samplesPerSecondA, ratio.value, ratio.low, ratio.high,
                           result.pairs.size());
    if (result.lossAtEqualTime)
        printLosses(*result.lossAtEqualTime, out);
    if (!isScreening(result.plan))
        printSaved(result, out);
    if (result.noise.cores > 0 && result.noise.turns.seconds > 0)
        printNoise(result.noise, out);
}

int experiment(const ExperimentOptions& options, const Streams& streams)
{
    if (!options.command.empty())
        return programExperiment(options, streams);
    const auto plan = planOf(options, streams);
    if (!plan)
        return plan.error();
    catchInterrupts();
    std::stop_source stop;
    const InterruptWatch watch(stop);
    bool begun = false;
    const auto follow = [&](const ExperimentProgress& progress) {
        // The step time is not known yet, and for the loss, the length of the training run.
        if (!std::exchange(begun, true) && !isScreening(*plan))
            streams.err << fmt::format("takes about {} s or more\n", expectedDuration(*plan, 0).count());
        printProgress(progress, streams.err);
    };
    const auto result = runExperiment(*plan, follow, stop.get_token());
    if (!result) {
        streams.err << result.error().message() << '\n';
        return result.error().code == profiler::Error::Code::Cancelled ? kInterrupted : kBadInput;
    }
    if (options.json)
        streams.out << jsonText(toJson(*result)) << '\n';
    else {
        if (result->plan.changes.empty())
            streams.out << "A/A experiment (no change)\n";
        printResult(*result, streams.out);
    }
    return kDone;
}

int programExperiment(const ExperimentOptions& options, const Streams& streams)
{
    catchInterrupts();
    std::stop_source stop;
    const InterruptWatch watch(stop);
    Session session{streams.err, stop.get_token()};
    const auto plan = planOf(options, session);
    if (!plan) {
        streams.err << plan.error().message() << '\n';
        return plan.error().code == Error::Code::Cancelled ? kInterrupted : kBadInput;
    }
    const auto follow = [&](const ExperimentProgress& progress) { printProgress(progress, streams.err); };
    const auto result = runProgramExperiment(*plan, follow, stop.get_token());
    if (!result) {
        streams.err << result.error().message() << '\n';
        const bool isStopped = result.error().code == Error::Code::Cancelled;
        if (!isStopped)
            streams.err << "The arms' output is in " << plan->setup.logs.string() << '\n';
        return isStopped ? kInterrupted : kBadInput;
    }
    if (options.json)
        streams.out << jsonText(toJson(*plan, *result)) << '\n';
    else
        print(*plan, *result, streams.out);
    return kDone;
}

} // namespace app::terminal
