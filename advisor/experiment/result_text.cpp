#include "advisor/experiment/result_text.h"

#include "advisor/advice.h"
#include "advisor/experiment/statistics.h"
#include "advisor/prediction/saving.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace advisor {

namespace {

using profiler::message;
using profiler::Message;
using profiler::MessageParameter;

constexpr const char* kUnknown = "–";

std::string bytes(double value)
{
    return bytesText(std::llround(value));
}

template <class Text>
std::string savedText(const Interval& saved, const Text& text)
{
    return saved.isKnown() ? fmt::format("{} ({} to {})", text(saved.value), text(saved.low), text(saved.high))
                           : kUnknown;
}

MessageParameter ratioOf(const Interval& ratio)
{
    return {"ratio", ratio.value, intervalText(ratio)};
}
MessageParameter pairsOf(const ExperimentResult& result)
{
    return {"pairs", result.pairs.size(),
            fmt::format("{} pair{}", result.pairs.size(), result.pairs.size() == 1 ? "" : "s")};
}
MessageParameter lossOf(std::string_view name, double loss)
{
    return {name, loss, fmt::format("{:.4g}", loss)};
}
/// "400 steps", "3 validations".
MessageParameter stepsOf(const ExperimentResult& result)
{
    const bool validations =
        result.loss.at == LossCheck::At::EqualTime && result.lossAtEqualTime && result.lossAtEqualTime->validation;
    return {"steps", result.loss.steps, fmt::format("{} {}", result.loss.steps, validations ? "validations" : "steps")};
}
MessageParameter seedsOf(std::size_t seeds)
{
    return {"seeds", seeds, fmt::format("{} seed{}", seeds, seeds == 1 ? "" : "s")};
}
MessageParameter marginOf(const LossCheck& loss)
{
    return {"margin", loss.margin, shareText(loss.margin)};
}
MessageParameter highestOf(const LossCheck& loss)
{
    return {"highest", loss.highest, std::isfinite(loss.highest) ? shareText(loss.highest) : "any amount"};
}

bool hasFirstLook(const ExperimentResult& result)
{
    const std::size_t observations =
        result.plan.objective == Objective::Time ? result.pairs.size() / kPairsPerStart : result.pairs.size();
    return observations * kPairsPerStart >= kLooks.front();
}

/// The reason for a verdict if the change is faster or takes less memory, but its loss prevents "pays".
std::optional<Message> lossPreventsGain(const ExperimentResult& result)
{
    const LossCheck& loss = result.loss;
    const std::string_view what = result.plan.objective == Objective::Memory ? "Less memory" : "Faster";
    const Interval& ratio = result.judgedRatio;
    if (ratio.low <= kMinimumEffect)
        return std::nullopt;
    if (loss.kind == LossKind::Worse)
        return message<"experiment.loss_worse",
                       "{what}, {ratio} ×, but the loss is worse: {b} instead of {a} over {steps} from {seeds}.">(
            {{"what", what},
             ratioOf(ratio),
             lossOf("a", loss.a),
             lossOf("b", loss.b),
             stepsOf(result),
             seedsOf(loss.seeds)});
    if (!mayChangeLoss(result.plan))
        return std::nullopt;
    if (loss.kind == LossKind::NotCompared)
        return message<
            "experiment.loss_not_compared",
            "{what}: {ratio} ×, but it is not shown that the loss is not worse, because the two arms have no "
            "comparable losses. Compare the losses of complete training runs before you keep this change.">(
            {{"what", what}, ratioOf(ratio)});
    if (loss.kind == LossKind::NotShown && !loss.seedsVary)
        return message<"experiment.loss_seeds_equal",
                       "{what}: {ratio} ×, but it is not shown that the loss is not worse, because the program's seed "
                       "could not be varied: it trains in the same way at every start.">(
            {{"what", what}, ratioOf(ratio)});
    if (loss.kind == LossKind::NotShown)
        return message<"experiment.loss_not_shown",
                       "{what}: {ratio} ×, but it is not shown that the loss is not worse: it may be {highest} higher, "
                       "and the margin is {margin} ({steps} from {seeds}).">(
            {{"what", what}, ratioOf(ratio), highestOf(loss), marginOf(loss), stepsOf(result), seedsOf(loss.seeds)});
    return std::nullopt;
}

Message timeReason(const ExperimentResult& result, bool outOfTime)
{
    const Interval& ratio = result.samplesPerSecond;
    if (result.pairs.empty() || !ratio.isKnown())
        return message<"experiment.out_of_time.no_interval",
                       "The time budget was used up before two starts of both arms were measured.">();
    if (outOfTime && !hasFirstLook(result))
        return message<"experiment.out_of_time.first_look",
                       "The time budget was used up after {pairs}, before the first look at {look} pairs.">(
            {pairsOf(result), {"look", kLooks.front()}});
    switch (result.verdict) {
    case Verdict::Pays:
        if (result.loss.kind == LossKind::NotWorse)
            return message<"experiment.faster.loss_not_worse",
                           "Faster: {ratio} × the samples per second in {pairs}; loss not worse over {steps} (margin "
                           "{margin}).">({ratioOf(ratio), pairsOf(result), stepsOf(result), marginOf(result.loss)});
        return message<"experiment.faster.loss_not_affected",
                       "Faster: {ratio} × the samples per second in {pairs}; this change does not affect the loss.">(
            {ratioOf(ratio), pairsOf(result)});
    case Verdict::Costs:
        return message<"experiment.slower", "Slower: {ratio} × the samples per second in {pairs}.">(
            {ratioOf(ratio), pairsOf(result)});
    case Verdict::DoesNotPay:
        if (ratio.low >= 1 / kMinimumEffect && ratio.high <= kMinimumEffect)
            return message<"experiment.no_difference",
                           "No difference of one percent or more: {ratio} × the samples per second in {pairs}.">(
                {ratioOf(ratio), pairsOf(result)});
        return message<"experiment.no_gain",
                       "No gain of more than one percent is shown: {ratio} × the samples per second in {pairs}.">(
            {ratioOf(ratio), pairsOf(result)});
    case Verdict::Inconclusive:
        break;
    }
    if (outOfTime)
        return message<
            "experiment.out_of_time",
            "The time budget was used up after {pairs} of at most {most}: {ratio} × the samples per second.">(
            {pairsOf(result), {"most", kLooks.back()}, ratioOf(ratio)});
    return noiseSource(result.noise);
}

Message memoryReason(const ExperimentResult& result)
{
    const Interval& ratio = result.judgedRatio;
    if (!ratio.isKnown())
        return message<"experiment.out_of_time.no_interval",
                       "The time budget was used up before two starts of both arms were measured.">();
    return message<
        "experiment.memory",
        "Peak tensor memory of the baseline is {ratio} × that of the change, in {pairs} of fresh processes.">(
        {ratioOf(ratio), pairsOf(result)});
}

/// "a validation loss of 0.51 instead of 0.62, 0.11 lower (95 % interval 0.08 to 0.14)"
MessageParameter lossesOf(const LossAtEqualTime& losses)
{
    const Interval& saved = losses.saved;
    const bool higher = saved.value < 0;
    const Interval shown = higher ? Interval{-saved.value, -saved.high, -saved.low} : saved;
    return {"saved", saved.value,
            fmt::format("a {} loss of {:.4g} instead of {:.4g}, {:.3g} {} (95 % interval {:.3g} to {:.3g})",
                        losses.validation ? "validation" : "training", losses.b, losses.a, shown.value,
                        higher ? "higher" : "lower", shown.low, shown.high)};
}
MessageParameter horizonOf(const LossAtEqualTime& losses)
{
    return {"seconds", losses.seconds, fmt::format("{:.3g} s", losses.seconds)};
}

Message screeningReason(const ExperimentResult& result, bool outOfTime)
{
    const LossAtEqualTime& losses = *result.lossAtEqualTime;
    const std::size_t seeds = losses.seeds.size(), firstLook = kLooks.front() / kPairsPerStart;
    if (seeds < 2)
        return message<"experiment.screening.out_of_time.no_interval",
                       "The time budget was used up before two seeds were trained.">();
    if (outOfTime && seeds < firstLook)
        return message<"experiment.screening.out_of_time.first_look",
                       "The time budget was used up after {seeds}, before the first look after {look}.">(
            {seedsOf(seeds), {"look", firstLook}});
    if (!result.loss.seedsVary)
        return message<
            "experiment.screening.seeds_equal",
            "Not shown: the program's seed could not be varied, so that {seeds} repeated the same training for "
            "{seconds}: {saved}.">({seedsOf(seeds), horizonOf(losses), lossesOf(losses)});
    switch (result.verdict) {
    case Verdict::Pays:
        return message<"experiment.screening.lower", "Lower after {seconds} of training: {saved} over {seeds}.">(
            {horizonOf(losses), lossesOf(losses), seedsOf(seeds)});
    case Verdict::Costs:
        return message<"experiment.screening.higher", "Higher after {seconds} of training: {saved} over {seeds}.">(
            {horizonOf(losses), lossesOf(losses), seedsOf(seeds)});
    case Verdict::DoesNotPay:
        if (losses.ratio.low >= 1 / kMinimumEffect && losses.ratio.high <= kMinimumEffect)
            return message<"experiment.screening.no_difference",
                           "No difference of one percent or more after {seconds} of training: {saved} over {seeds}.">(
                {horizonOf(losses), lossesOf(losses), seedsOf(seeds)});
        return message<"experiment.screening.no_gain",
                       "No gain of more than one percent is shown after {seconds} of training: {saved} over {seeds}.">(
            {horizonOf(losses), lossesOf(losses), seedsOf(seeds)});
    case Verdict::Inconclusive:
        break;
    }
    return message<"experiment.screening.seeds_differ",
                   "The seeds differ too much to decide after {seconds} of training: {saved} over {seeds}.">(
        {horizonOf(losses), lossesOf(losses), seedsOf(seeds)});
}

std::string_view armText(std::size_t arm)
{
    return arm == 0 ? "baseline" : "change";
}

std::string joined(const std::vector<std::string>& words)
{
    std::string text;
    for (const std::string& word : words)
        text += (text.empty() ? "" : ", ") + word;
    return text;
}

void addScreeningNotes(std::vector<Message>& notes, const ExperimentResult& result)
{
    const LossAtEqualTime& losses = *result.lossAtEqualTime;
    notes.push_back(
        message<"experiment.note.screening", "This is a screening at equal time over {seconds}: it does not show "
                                             "which training run ends with the lower loss.">({horizonOf(losses)}));
    for (const std::size_t arm : {0, 1})
        if (losses.diverged[arm] > 0)
            notes.push_back(
                message<"experiment.note.diverged", "The {arm}'s training diverged from {count} of {seeds}.">(
                    {{"arm", armText(arm)}, {"count", losses.diverged[arm]}, seedsOf(losses.seeds.size())}));
    std::vector<RescaledSetting> reported;
    for (const auto& arm : result.rescaled)
        for (const RescaledSetting& setting : arm) {
            if (std::find(reported.begin(), reported.end(), setting) != reported.end())
                continue;
            reported.push_back(setting);
            notes.push_back(message<"experiment.note.rescaled",
                                    "{key} was rescaled from {from} to {to} for {seconds} of training.">(
                {{"key", setting.key}, {"from", setting.from}, {"to", setting.to}, horizonOf(losses)}));
        }
}

/// "2 pairs were", "1 seed was".
MessageParameter countOf(const ExperimentResult& result, std::size_t count)
{
    return {"count", count,
            fmt::format("{} {}{}", count, isScreening(result.plan) ? "seed" : "pair", count == 1 ? " was" : "s were")};
}

void addNoiseNotes(std::vector<Message>& notes, const ExperimentResult& result)
{
    const NoiseReport& noise = result.noise;
    if (noise.repeatedPairs > 0)
        notes.push_back(message<"experiment.note.repeated_pairs", "{count} repeated because {cause}.">(
            {countOf(result, noise.repeatedPairs), disturbanceCause(noise)}));
    if (noise.disturbedPairs > 0)
        notes.push_back(message<"experiment.note.disturbed_pairs",
                                "{count} kept although {cause}: the limit of repetitions was reached.">(
            {countOf(result, noise.disturbedPairs), disturbanceCause(noise)}));
    // Only if noise may be the reason: not if the seeds differ or the time budget was used up. Peak memory does not
    // depend on other programs.
    if (result.verdict != Verdict::Inconclusive || result.plan.objective == Objective::Memory ||
        lossPreventsGain(result))
        return;
    Message source = noiseSource(noise);
    if (source.id != result.why.id && source.id != "experiment.noise.unknown")
        notes.push_back(std::move(source));
}

bool isAboutMeasured(const Saving& saving, const ExperimentPlan& plan)
{
    if (isScreening(plan))
        return false;
    switch (saving.unit) {
    case SavingUnit::UsPerStep:
        return plan.objective == Objective::Time && plan.measure == "steps";
    case SavingUnit::UsPerEpoch:
        return plan.objective == Objective::Time && plan.measure == "epoch";
    case SavingUnit::UsPerValidation:
        return plan.objective == Objective::Time && plan.measure == "validation";
    case SavingUnit::Bytes:
        return plan.objective == Objective::Memory;
    }
    return false;
}

} // namespace

std::string ratioText(const Interval& ratio)
{
    return ratio.isKnown() ? fmt::format("{:.3f} ({:.3f}–{:.3f})", ratio.value, ratio.low, ratio.high) : kUnknown;
}

std::string predictedText(const std::optional<Saving>& saving)
{
    if (!saving)
        return kUnknown;
    return savingAmount(*saving);
}

std::string measuredText(const ExperimentResult& result)
{
    if (const auto& losses = result.lossAtEqualTime; losses && isScreening(result.plan))
        return losses->saved.isKnown()
                   ? "loss lower by " +
                         savedText(losses->saved, [](double loss) { return fmt::format("{:.3g}", loss); })
                   : kUnknown;
    return result.plan.objective == Objective::Memory ? savedText(result.savedBytes, bytes)
                                                      : savedText(result.savedUs, timeText);
}

std::string intervalText(const Interval& interval)
{
    return fmt::format("{:.3g} (95 % interval {:.3g}–{:.3g})", interval.value, interval.low, interval.high);
}

Message verdictReason(const ExperimentResult& result, bool outOfTime)
{
    if (isScreening(result.plan))
        return screeningReason(result, outOfTime);
    if (auto reason = lossPreventsGain(result))
        return std::move(*reason);
    return result.plan.objective == Objective::Memory ? memoryReason(result) : timeReason(result, outOfTime);
}

std::vector<Message> verdictNotes(const ExperimentResult& result)
{
    std::vector<Message> notes;
    if (result.sharePort)
        notes.push_back(message<"experiment.note.one_port",
                                "The programs ran one at a time, because both listen on the same port.">());
    else if (result.isSequential)
        notes.push_back(message<"experiment.note.one_at_a_time",
                                "The trainers ran one at a time, because both together ran out of memory.">());
    if (result.lossAtEqualTime)
        addScreeningNotes(notes, result);
    addNoiseNotes(notes, result);
    for (const std::size_t arm : {0, 1})
        if (!result.warmUp.arms[arm].ended)
            notes.push_back(
                message<"experiment.note.warm_up_limit",
                        "The {arm}'s warm-up did not end within {limit}; its first pairs may contain part of it.">(
                    {{"arm", armText(arm)},
                     {"limit", result.warmUp.limitSeconds, fmt::format("{:.3g} s", result.warmUp.limitSeconds)}}));
        else if (const auto& causes = result.warmUp.arms[arm].causes; !causes.empty())
            notes.push_back(
                message<"experiment.note.warm_up_causes", "The {arm} warmed up for {seconds}; known causes: {causes}.">(
                    {{"arm", armText(arm)},
                     {"seconds", result.warmUp.arms[arm].seconds,
                      fmt::format("{:.2g} s", result.warmUp.arms[arm].seconds)},
                     {"causes", joined(causes)}}));
    return notes;
}

std::optional<Saving> predictedHere(const ExperimentResult& result)
{
    if (!result.plan.predicted || !isAboutMeasured(*result.plan.predicted, result.plan))
        return std::nullopt;
    Saving saving = *result.plan.predicted;
    if (saving.ofUs > 0 && result.unitUsA > 0) {
        const double times = result.unitUsA / saving.ofUs;
        for (double* us : {&saving.low, &saving.mid, &saving.high, &saving.ofUs})
            *us *= times;
    }
    return saving;
}

std::optional<bool> predictionHeld(const ExperimentResult& result)
{
    const auto predicted = predictedHere(result);
    const Interval& saved = result.plan.objective == Objective::Memory ? result.savedBytes : result.savedUs;
    if (!predicted || !std::isfinite(saved.value) || !saved.isKnown())
        return std::nullopt;
    // An upper bound does not limit how little is saved.
    const bool isBound = predicted->kind == SavingKind::UpperBound;
    if ((isBound || saved.value >= predicted->low) && saved.value <= predicted->high)
        return true;
    const bool isBeyond = saved.low > predicted->high || (!isBound && saved.high < predicted->low);
    return isBeyond ? std::optional(false) : std::nullopt;
}

} // namespace advisor
