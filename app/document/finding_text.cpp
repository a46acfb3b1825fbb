#include "app/document/finding_text.h"

#include "advisor/experiment/result_text.h"
#include "advisor/prediction/saving.h"
#include "app/look/display_text.h"
#include "trainer/config/training_config.h"

#include <QCoreApplication>

namespace app {

namespace {

struct Texts {
    Q_DECLARE_TR_FUNCTIONS(Finding)
};

QString perWhat(advisor::SavingUnit unit)
{
    switch (unit) {
    case advisor::SavingUnit::UsPerStep:
        return Texts::tr("per step");
    case advisor::SavingUnit::UsPerEpoch:
        return Texts::tr("per epoch");
    case advisor::SavingUnit::UsPerValidation:
        return Texts::tr("per validation");
    case advisor::SavingUnit::Bytes:
        break;
    }
    return {};
}

QString perWhat(const std::string& measure)
{
    if (measure == "epoch")
        return perWhat(advisor::SavingUnit::UsPerEpoch);
    return perWhat(measure == "validation" ? advisor::SavingUnit::UsPerValidation : advisor::SavingUnit::UsPerStep);
}

QString bounds(const advisor::Interval& ratio)
{
    return QString("%1–%2").arg(formatSignificant(ratio.low), formatSignificant(ratio.high));
}

} // namespace

QString rangeText(const QString& low, const QString& high)
{
    const auto lowUnit = low.lastIndexOf(' '), highUnit = high.lastIndexOf(' ');
    if (low.startsWith('-'))
        return Texts::tr("%1 to %2").arg(low, high).replace('-', QChar(0x2212));
    const bool sameUnit = lowUnit > 0 && highUnit > 0 && low.mid(lowUnit) == high.mid(highUnit);
    return (sameUnit ? low.left(lowUnit) : low) + "–" + high;
}

namespace {

QString amountText(const advisor::Saving& saving)
{
    return QString::fromStdString(advisor::savingAmount(saving));
}

} // namespace

QString preparingText(const config::protocol::Preparing& preparing)
{
    const QString what = asQString(preparing.what);
    return preparing.total > 0
               ? Texts::tr("%1 (%2 of %3)").arg(what, formatCount(preparing.done), formatCount(preparing.total))
               : what;
}

QString savingText(const advisor::Saving& saving)
{
    return QString::fromStdString(advisor::savingText(saving));
}

QString toggleText(const advisor::Toggle& toggle)
{
    const config::Knob* knob = config::findKnob(toggle.key);
    const QString name = knob ? asQString(knob->label) : asQString(toggle.key);
    return toggle.from.empty() ? QString("%1 = %2").arg(name, asQString(toggle.to)) // a program's current value may be
                                                                                    // unknown
                               : QString("%1: %2 → %3").arg(name, asQString(toggle.from), asQString(toggle.to));
}

QString aboutText(std::chrono::seconds duration)
{
    const auto seconds = duration.count();
    if (seconds < 90)
        return Texts::tr("about %1 s").arg(seconds < 10 ? std::max<qint64>(1, seconds) : (seconds + 2) / 5 * 5);
    return Texts::tr("about %1 min").arg((seconds + 30) / 60);
}

QString lossDifferenceText(const advisor::Interval& saved)
{
    const bool more = saved.value < 0;
    const advisor::Interval shown = more ? advisor::Interval{-saved.value, -saved.high, -saved.low} : saved;
    return Texts::tr("%1 %2 (95 % interval %3)")
        .arg(formatSignificant(shown.value), more ? Texts::tr("higher") : Texts::tr("lower"),
             rangeText(formatSignificant(shown.low), formatSignificant(shown.high)));
}

QString ratioAndInterval(const advisor::Interval& ratio)
{
    return Texts::tr("%1 (95 % interval %2)").arg(formatRatio(ratio.value), bounds(ratio));
}

namespace {

/// "Pays: 120 MB less in tensors at the peak (95 % interval 110–130 MB), 0.98 × as fast": the objective comes first.
QString memoryVerdict(const advisor::ExperimentResult& result)
{
    const advisor::Interval& saved = result.savedBytes;
    const bool more = saved.value < 0;
    const advisor::Interval shown = more ? advisor::Interval{-saved.value, -saved.high, -saved.low} : saved;
    const QString bytes = Texts::tr("%1 %2 in tensors at the peak (95 % interval %3)")
                              .arg(formatBytes(shown.value), more ? Texts::tr("more") : Texts::tr("less"),
                                   rangeText(formatBytes(shown.low), formatBytes(shown.high)));
    QString text;
    switch (result.verdict) {
    case advisor::Verdict::Pays:
        text = Texts::tr("Pays: %1");
        break;
    case advisor::Verdict::DoesNotPay:
        text = Texts::tr("Does not pay: %1");
        break;
    case advisor::Verdict::Costs:
        text = Texts::tr("Costs: %1");
        break;
    case advisor::Verdict::Inconclusive:
        text = Texts::tr("No verdict: %1");
        break;
    }
    return text.arg(bytes) + Texts::tr(", %1 as fast").arg(formatRatio(result.samplesPerSecond.value));
}

QString lossName(const advisor::LossAtEqualTime& losses)
{
    return losses.validation ? Texts::tr("validation loss") : Texts::tr("training loss");
}

/// "Pays in screening at equal time: validation loss 0.120 lower (95 % interval 0.080–0.160) after 20 s of training".
QString screeningVerdict(const advisor::LossAtEqualTime& losses, advisor::Verdict verdict)
{
    if (losses.seeds.size() < 2)
        return Texts::tr("No verdict: time budget used up after too few seeds");
    const QString difference = Texts::tr("%1 %2 after %3 s of training")
                                   .arg(lossName(losses), lossDifferenceText(losses.saved))
                                   .arg(formatSignificant(losses.seconds));
    switch (verdict) {
    case advisor::Verdict::Pays:
        return Texts::tr("Pays in screening at equal time: %1").arg(difference);
    case advisor::Verdict::DoesNotPay:
        return Texts::tr("Does not pay in screening at equal time: %1").arg(difference);
    case advisor::Verdict::Costs:
        return Texts::tr("Costs in screening at equal time: %1").arg(difference);
    case advisor::Verdict::Inconclusive:
        break;
    }
    return Texts::tr("No verdict from screening at equal time: %1").arg(difference);
}

/// "; loss not worse over 400 steps".
QString lossText(const advisor::ExperimentResult& result)
{
    const advisor::LossCheck& loss = result.loss;
    switch (loss.kind) {
    case advisor::LossKind::NotWorse:
        return loss.at == advisor::LossCheck::At::EqualTime
                   ? Texts::tr("; loss not worse at equal time")
                   : Texts::tr("; loss not worse over %1 steps").arg(formatCount(static_cast<qint64>(loss.steps)));
    case advisor::LossKind::Worse:
        return Texts::tr("; but the loss is worse: %1 instead of %2")
            .arg(formatSignificant(loss.b), formatSignificant(loss.a));
    case advisor::LossKind::NotShown:
        return Texts::tr("; could not show that the loss is not worse");
    case advisor::LossKind::NotCompared:
        break;
    }
    return {};
}

QString timeVerdict(const advisor::ExperimentResult& result)
{
    const advisor::Interval& ratio = result.samplesPerSecond;
    switch (result.verdict) {
    case advisor::Verdict::Pays:
        return Texts::tr("Pays: %1 faster (95 % interval %2)").arg(formatRatio(ratio.value), bounds(ratio));
    case advisor::Verdict::DoesNotPay:
        return Texts::tr("Does not pay: %1").arg(ratioAndInterval(ratio));
    case advisor::Verdict::Costs:
        return Texts::tr("Costs: only %1 as fast (95 % interval %2)").arg(formatRatio(ratio.value), bounds(ratio));
    case advisor::Verdict::Inconclusive:
        break;
    }
    return Texts::tr("No verdict: %1").arg(ratioAndInterval(ratio));
}

} // namespace

QString verdictText(const advisor::ExperimentResult& result)
{
    if (advisor::isScreening(result.plan) && result.lossAtEqualTime)
        return screeningVerdict(*result.lossAtEqualTime, result.verdict);
    const bool memory = result.plan.objective == advisor::Objective::Memory;
    if (!(memory ? result.savedBytes : result.samplesPerSecond).isKnown())
        return Texts::tr("No verdict: time budget used up after too few measurements");
    return (memory ? memoryVerdict(result) : timeVerdict(result)) + lossText(result);
}

QString predictedAndMeasured(const advisor::ExperimentResult& result)
{
    if (const auto& losses = result.lossAtEqualTime; losses && advisor::isScreening(result.plan))
        return losses->seeds.empty()
                   ? QString()
                   : Texts::tr("measured %1 %2, before %3")
                         .arg(lossName(*losses), formatSignificant(losses->b), formatSignificant(losses->a));
    const bool memory = result.plan.objective == advisor::Objective::Memory;
    const advisor::Interval& saved = memory ? result.savedBytes : result.savedUs;
    if (!saved.isKnown())
        return {};
    const auto amount = [&](double value) { return memory ? formatBytes(value) : formatUs(value); };
    const QString measured =
        Texts::tr("measured %1 (%2) %3")
            .arg(amount(saved.value).replace('-', QChar(0x2212)), rangeText(amount(saved.low), amount(saved.high)),
                 memory ? Texts::tr("in tensors at the peak") : perWhat(result.plan.measure));
    const auto predicted = advisor::predictedHere(result);
    return predicted ? Texts::tr("predicted %1, %2").arg(amountText(*predicted), measured) : measured;
}

QString predictionsText(const Journal& journal)
{
    const auto [held, made] = journal.score();
    return made == 0 ? QString()
                     : Texts::tr("%1 of %2 measured savings were in the predicted range").arg(held).arg(made);
}

} // namespace app
