#include "app/terminal/experiment_json.h"

#include "advisor/experiment/held_prediction.h"
#include "app/terminal/advice_json.h"
#include "app/terminal/json_text.h"

#include <cmath>

namespace app::terminal {

using namespace advisor;

namespace {

using Json = nlohmann::ordered_json;

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

} // namespace app::terminal
