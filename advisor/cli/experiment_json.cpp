#include "advisor/cli/experiment_json.h"

#include "advisor/cli/advice_json.h"
#include "advisor/experiment/held_prediction.h"
#include "advisor/experiment/loss_comparison.h"

namespace advisor::cli {

namespace {

using Json = nlohmann::ordered_json;

/// JSON has no infinity, and no word but null for what was not measured.
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

/// Time of one unit in each arm. Samples of equal number make its ratio a / b that of the throughput, b / a: in noise
/// it differs from that of the two times, which are means over all turns, so that it says what it is.
Json unitJson(const ExperimentResult& result, std::string_view measure)
{
    if (result.plan.measure != measure || result.unitUsB <= 0)
        return nullptr;
    bool sameSamples = true;
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

/// Differences are a − b: above zero the change's loss is the lower one.
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

/// What the verdict is about.
Json measuredJson(const ExperimentResult& result)
{
    if (result.lossAtEqualTime && result.lossAtEqualTime->seeds.empty())
        return nullptr;
    if (result.lossAtEqualTime)
        return {{"unit", "loss"},
                {"value", result.lossAtEqualTime->saved.value},
                {"ci95", ci95(result.lossAtEqualTime->saved)}};
    if (result.plan.judgedBy == JudgedBy::Memory)
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
    json["one_at_a_time"] = result.oneAtATime;
    json["judged_by"] = judgedByName(plan.judgedBy);
    json["samples_per_s"] = {{"a", speed(result.samplesPerSecondA)},
                             {"b", speed(result.samplesPerSecondB)},
                             {"ratio", result.samplesPerSecond.value},
                             {"ci95", ci95(result.samplesPerSecond)}};
    json["step_us"] = unitJson(result, "steps");
    json["epoch_us"] = unitJson(result, "epoch");
    json["validation_us"] = unitJson(result, "validation");
    const bool judged = !result.oneAtATime && (plan.judgedBy == JudgedBy::Convergence || sameBatches(plan.changes));
    json["loss"] = {{"a", result.lossA},
                    {"b", result.lossB},
                    {"parity", judged ? Json(result.lossParity) : Json(nullptr)},
                    {"tolerance", result.lossTolerance}};
    json["loss_at_equal_time"] = equalTimeJson(result.lossAtEqualTime);
    json["peak_bytes"] = {{"a", bytesJson(result.peakBytesA)}, {"b", bytesJson(result.peakBytesB)}, {"of", "tensors"}};
    json["verdict"] = verdictName(result.verdict);
    json["why"] = result.why;
    json["predicted"] = savingJson(plan.predicted);
    json["predicted_here"] = savingJson(predictedHere(result));
    const auto held = predictionHeld(result);
    json["prediction_held"] = held ? Json(*held) : Json(nullptr);
    json["measured"] = measuredJson(result);
    json["seconds_spent"] = result.secondsSpent;
    return json;
}

} // namespace advisor::cli
