#include "advisor/prediction/attribution.h"

#include "advisor/advice.h"
#include "advisor/evidence/launch_bound.h"
#include "advisor/evidence/run_facts.h"
#include "advisor/prediction/replay_saving.h"
#include "advisor/prediction/saving.h"
#include "profiler/model/message.h"

#include <algorithm>

namespace advisor {

using namespace profiler::analysis;

namespace {

// Tolerance for sums of fractional microseconds, which are subject to rounding.
constexpr double kRounding = 1e-6;
// Share of the analysis window: a smaller remainder is not worth a separate claim.
constexpr double kLeastShare = 1e-4;

TimePart partOf(std::string_view cause)
{
    if (cause == "data_loader")
        return TimePart::Data;
    if (cause == "communication")
        return TimePart::Communication;
    if (cause == "sync")
        return TimePart::Sync;
    if (cause == "copy")
        return TimePart::Copy;
    if (cause == "allocation")
        return TimePart::Allocation;
    if (cause == "lazy_loading" || cause == "warm_up")
        return TimePart::WarmUp;
    if (cause == "launch")
        return TimePart::Launch;
    return TimePart::Unknown; // queued, end_of_run, other
}

std::size_t indexOf(TimePart part)
{
    std::size_t index = 0;
    while (timePart(index) != part)
        ++index;
    return index;
}

/// The remaining time of each part, and the finding with the largest claim on it.
struct Ledger {
    TimeParts left;
    std::array<std::string, kTimeParts> holder; ///< id of the finding with the largest claim
    std::array<double, kTimeParts> held{};

    /// Claims up to `us` from the given parts, in their order.
    std::vector<TimeClaim> take(const std::string& id, TimePart parts, double us)
    {
        std::vector<TimeClaim> claims;
        for (std::size_t i = 0; i < kTimeParts && us > 0; ++i) {
            if (!contains(parts, timePart(i)) || left.us[i] <= 0)
                continue;
            const double taken = std::min(us, left.us[i]);
            left.us[i] -= taken;
            us -= taken;
            claims.push_back({timePart(i), taken});
            if (taken > held[i]) {
                held[i] = taken;
                holder[i] = id;
            }
        }
        return claims;
    }
    /// The finding that has claimed most of these parts.
    [[nodiscard]] std::string holderOf(TimePart parts) const
    {
        std::size_t most = kTimeParts;
        for (std::size_t i = 0; i < kTimeParts; ++i)
            if (contains(parts, timePart(i)) && !holder[i].empty() && (most == kTimeParts || held[i] > held[most]))
                most = i;
        return most == kTimeParts ? std::string() : holder[most];
    }
};

bool isPerStep(const Advice& advice)
{
    return advice.saving && advice.saving->unit == SavingUnit::UsPerStep;
}

/// Time in µs of the steps that the finding stands for, before other findings are considered.
double wantedUs(const Advice& advice, const TimeParts& all)
{
    if (advice.saving) // epochs and validations are outside of steady steps
        return isPerStep(advice) ? std::max(0.0, advice.saving->claimed() - advice.betweenStepsUs) : 0;
    return advice.timeShare * all.total();
}

/// Limits the saving, because only `us` of the steps' time is left for the finding.
void cap(Advice& advice, double us, const TimeParts& all)
{
    Saving& saving = *advice.saving;
    advice.timeShare = all.total() > 0 ? std::min(advice.timeShare, us / all.total()) : 0;
    saving.mid = std::min(saving.mid, us + advice.betweenStepsUs);
    saving.low = std::min(saving.low, saving.mid);
    if (saving.kind == SavingKind::UpperBound)
        saving.high = saving.mid;
}

/// @param findings titles of the findings by id
void claim(RuleAdvice& row, bool general, TimePart parts, const TimeParts& all, Ledger& ledger,
           const std::map<std::string, std::string>& findings)
{
    Advice& advice = row.advice;
    const double wanted = wantedUs(advice, all), available = ledger.left.of(parts), whole = all.of(parts);
    if (wanted <= 0)
        return;
    if (wanted <= available * (1 + kRounding) || available >= whole * (1 - kRounding)) {
        if (isPerStep(advice) && available < wanted)
            cap(advice, available, all);
        row.claims = ledger.take(row.id, parts, wanted);
        return;
    }
    const std::string holder = ledger.holderOf(parts);
    row.sharesWith = holder;
    const bool hasRest = available > kLeastShare * all.total();
    if (general && hasRest && isPerStep(advice) && advice.saving->kind == SavingKind::UpperBound) {
        cap(advice, available, all); // the time that the specific findings leave
        row.claims = ledger.take(row.id, parts, available);
        return;
    }
    if (isPerStep(advice)) {
        const profiler::Message counted = profiler::message<
            "prediction.counted_elsewhere",
            "Alone it could save {amount} per step, but the finding \"{finding}\" already claims that time.">(
            {{"amount", advice.saving->claimed(), savingAmount(*advice.saving)}, {"finding", findings.at(holder)}});
        advice.whyNoPrediction = counted;
        advice.saving.reset();
    }
    if (hasRest)
        row.claims = ledger.take(row.id, parts, std::min(available, advice.timeShare * all.total()));
    advice.timeShare = all.total() > 0 ? std::min(advice.timeShare, available / all.total()) : 0;
}

} // namespace

std::string_view timePartName(TimePart part)
{
    constexpr std::array<std::string_view, kTimeParts> kNames = {
        "data", "sync", "copy", "launch", "allocation", "communication", "warm-up", "kernels", "unknown"};
    return part == TimePart::None ? std::string_view() : kNames[indexOf(part)];
}

TimeParts timeParts(const RuleContext& c)
{
    TimeParts parts;
    const DeviceFacts& device = c.facts.device;
    const auto add = [&](TimePart part, double us) { parts.us[indexOf(part)] += us; };
    if (!device.hasWork()) {
        const double step = c.facts.statistics.count > 0 ? c.facts.statistics.steadyMeanUs : toUs(device.windowTime());
        const double data = std::min(step, c.facts.input.waitUsPerStep);
        add(TimePart::Data, data);
        add(TimePart::Kernels, step - data);
        return parts;
    }
    for (const IdleCause& cause : device.idle) {
        profiler::Nanoseconds host{}; // host time without an event that shows it
        if (cause.cause == "other")
            for (const auto& [id, where] : cause.everywhere)
                host += total(unrecordedHostTime(c, where));
        add(TimePart::Launch, device.deviceUsPerStep(host));
        add(partOf(cause.cause), device.deviceUsPerStep(cause.time - host));
    }
    add(TimePart::Kernels, device.deviceUsPerStep(device.computing));
    add(TimePart::Copy, device.deviceUsPerStep(device.copying));
    add(TimePart::Communication, device.deviceUsPerStep(device.communicating));
    return parts;
}

namespace {

/// The parts from which a finding of the rule claims its time. A run on the CPU has two parts: the wait for data, and
/// everything else.
TimePart claimedParts(const Rule& rule, bool onDevice)
{
    if (onDevice || rule.claims == TimePart::None || rule.claims == TimePart::Data)
        return rule.claims;
    return contains(rule.claims, TimePart::Data) ? TimePart::Data | TimePart::Kernels : TimePart::Kernels;
}

} // namespace

double claimableUs(const Rule& rule, const RuleContext& c)
{
    return timeParts(c).of(claimedParts(rule, c.facts.device.hasWork()));
}

void attributeTime(std::vector<RuleAdvice>& advice, const std::vector<Rule>& rules, const RuleContext& c)
{
    const TimeParts all = timeParts(c);
    const bool onDevice = c.facts.device.hasWork();
    Ledger ledger{.left = all, .holder = {}};
    std::map<std::string, std::string> findings;
    for (const RuleAdvice& row : advice)
        findings.emplace(row.id, row.advice.title);
    for (const bool general : {false, true})
        for (RuleAdvice& row : advice) {
            const auto rule = std::find_if(rules.begin(), rules.end(), [&](const Rule& r) { return r.key == row.id; });
            if (rule == rules.end() || rule->general != general || row.advice.state != State::Fires ||
                rule->claims == TimePart::None)
                continue;
            claim(row, general, claimedParts(*rule, onDevice), all, ledger, findings);
        }
}

} // namespace advisor
