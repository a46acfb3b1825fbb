#include "app/views/tune/tune_trials.h"

#include "advisor/prediction/saving.h"
#include "app/document/finding_text.h"
#include "app/look/display_text.h"
#include "profiler/model/parse_number.h"
#include "trainer/config/training_config.h"

#include <QCoreApplication>
#include <QLocale>
#include <algorithm>
#include <optional>

namespace app {

using advisor::TuneTrial;

namespace {

struct Texts {
    Q_DECLARE_TR_FUNCTIONS(Tune)
};

QString labelOf(const std::string& key)
{
    const config::Knob* knob = config::findKnob(key);
    return asQString(knob ? knob->label : std::string_view(key));
}

EvidenceRow rowOf(const advisor::Toggle& change)
{
    EvidenceRow row;
    row.cells = {{labelOf(change.key), 0}, {QString("%1 → %2").arg(asQString(change.from), asQString(change.to)), 0}};
    return row;
}

/// "1.43 × (1.40–1.46)"; a dash if nothing was measured, or too little for an interval.
void addRatio(EvidenceRow& row, const std::optional<advisor::Interval>& ratio)
{
    if (!ratio || !ratio->isKnown())
        row.cells.push_back({QStringLiteral("–"), 0});
    else
        row.cells.push_back(
            {QString("%1 (%2–%3)")
                 .arg(formatRatio(ratio->value), formatSignificant(ratio->low), formatSignificant(ratio->high)),
             ratio->value});
}

/// For the memory objective, the reduction of the peak; otherwise the reduction of the step time.
QString savedText(const advisor::ExperimentResult& result)
{
    const bool memory = result.plan.objective == advisor::Objective::Memory;
    if (!(memory ? result.savedBytes : result.savedUs).isKnown())
        return QStringLiteral("–");
    const QString text = memory ? formatBytes(result.savedBytes.value) : formatUs(result.savedUs.value);
    return QString(text).replace('-', QChar(0x2212));
}

QString predictedText(const advisor::Saving& saving)
{
    return QString::fromStdString(advisor::savingAmount(saving));
}

QString verdictWord(advisor::Verdict verdict)
{
    switch (verdict) {
    case advisor::Verdict::Pays:
        return Texts::tr("pays");
    case advisor::Verdict::DoesNotPay:
        return Texts::tr("does not pay");
    case advisor::Verdict::Costs:
        return Texts::tr("costs");
    case advisor::Verdict::Inconclusive:
        break;
    }
    return Texts::tr("no verdict");
}

QString outcomeText(const TuneTrial& trial)
{
    if (trial.outcome == TuneTrial::Outcome::Kept)
        return Texts::tr("✓ kept");
    if (trial.outcome == TuneTrial::Outcome::Skipped)
        return Texts::tr("skipped");
    return trial.result ? verdictWord(trial.result->verdict) : Texts::tr("⚠ failed");
}

QString rateText(double value, double)
{
    return value == 0 ? QStringLiteral("0") : formatSignificant(value);
}

/// Both arms of a trial. The interval is that of the ratio, so only the changed arm has one.
void addTrial(std::vector<XyChart::Point>& points, const advisor::TuneTrial& trial, const advisor::Toggle& change)
{
    const auto from = profiler::parseNumber<double>(change.from), to = profiler::parseNumber<double>(change.to);
    const advisor::ExperimentResult& result = *trial.result;
    if (!from || !to || result.samplesPerSecondA <= 0 || result.samplesPerSecondB <= 0)
        return;
    points.push_back({*from, result.samplesPerSecondA, result.samplesPerSecondA, result.samplesPerSecondA,
                      Texts::tr("before %1").arg(toggleText(trial.change))});
    XyChart::Point changed{*to, result.samplesPerSecondB, result.samplesPerSecondB, result.samplesPerSecondB,
                           toggleText(trial.change)};
    if (result.samplesPerSecond.isKnown()) {
        changed.low = result.samplesPerSecondA * result.samplesPerSecond.low;
        changed.high = result.samplesPerSecondA * result.samplesPerSecond.high;
    }
    points.push_back(std::move(changed));
}

/// True if nothing but this knob differs.
bool differsOnlyIn(std::string_view key, const config::TrainingConfig& a, const config::TrainingConfig& b)
{
    const auto differences = config::difference(a, b);
    return std::all_of(differences.begin(), differences.end(),
                       [&](const config::Difference& difference) { return difference.key == key; });
}

} // namespace

std::vector<EvidenceModel::Column> tuneColumns()
{
    return {{Texts::tr("Tried"), false},    {Texts::tr("Before → after"), false}, {Texts::tr("Samples/s (95 %)"), true},
            {Texts::tr("Predicted"), true}, {Texts::tr("Measured"), true},        {Texts::tr("Verdict"), false}};
}

EvidenceRow tuneRow(const TuneTrial& trial, std::size_t number)
{
    const QString none = QStringLiteral("–");
    EvidenceRow row = rowOf(trial.change);
    const auto& result = trial.result;
    addRatio(row, result ? std::optional(result->samplesPerSecond) : std::nullopt);
    row.cells.push_back(
        {trial.predicted ? predictedText(*trial.predicted) : none, trial.predicted ? trial.predicted->high : 0});
    row.cells.push_back(
        {result ? savedText(*result) : none, result && result->savedUs.isKnown() ? result->savedUs.value : 0});
    row.cells.push_back({outcomeText(trial), 0});
    row.key = QString::number(number);
    return row;
}

EvidenceRow tuneRow(const advisor::TuneProgress& progress)
{
    const QString none = QStringLiteral("–");
    EvidenceRow row = rowOf(*progress.trying);
    addRatio(row, progress.ratio);
    row.cells.insert(row.cells.end(), {{none, 0}, {none, 0}, {Texts::tr("measuring…"), 0}});
    return row;
}

QString trialText(const TuneTrial& trial)
{
    QString text = toggleText(trial.change);
    if (!trial.title.empty())
        text += QString(" (%1)").arg(asQString(trial.title));
    // Nothing was measured if the time budget ran out before the first pairs.
    if (const QString measured = trial.result ? predictedAndMeasured(*trial.result) : QString(); !measured.isEmpty())
        text += ": " + measured;
    return trial.why.empty() ? text + '.' : QString("%1. %2").arg(text, asQString(trial.whyText()));
}

XyChart::Content throughputOver(std::string_view key, std::span<const advisor::TuneTrial> trials,
                                std::span<const RunRecord> runs, const config::TrainingConfig* tuned)
{
    const config::Knob* knob = config::findKnob(key);
    const QString label = knob ? asQString(knob->label) : asQString(key);
    XyChart::Content content;
    content.x = {label, label.toLower(), tick::count, true};
    content.y = {Texts::tr("Throughput (samples/s)"), Texts::tr("samples/s"), rateText};
    content.empty = Texts::tr("Nothing was measured with different values of %1.").arg(label);
    XyChart::Series measured{Texts::tr("measured, 95 % interval"), XyChart::Shape::Dots, SliceClass::CopyToDevice};
    for (const advisor::TuneTrial& trial : trials)
        if (trial.result)
            for (const advisor::Toggle& change : trial.result->plan.changes)
                if (change.key == key)
                    addTrial(measured.points, trial, change);
    XyChart::Series single{Texts::tr("single runs"), XyChart::Shape::Dots, SliceClass::DataWait};
    single.hollow = true;
    for (const RunRecord& run : runs)
        if (tuned && run.outcome.samplesPerSecond > 0 && differsOnlyIn(key, *tuned, run.configuration))
            if (const auto value = profiler::parseNumber<double>(run.configuration.text(key))) {
                const double rate = run.outcome.samplesPerSecond;
                single.points.push_back({*value, rate, rate, rate, QLocale().toString(run.started, "d MMM HH:mm")});
            }
    const auto byValue = [](const XyChart::Point& a, const XyChart::Point& b) { return a.x < b.x; };
    std::stable_sort(measured.points.begin(), measured.points.end(), byValue);
    std::stable_sort(single.points.begin(), single.points.end(), byValue);
    content.series = {std::move(single), std::move(measured)};
    return content;
}

} // namespace app
