#include "app/views/tune/throughput_chart.h"

#include "app/document/finding_text.h"
#include "app/look/number_format.h"
#include "app/look/qstring.h"

#include <QCoreApplication>
#include <QLocale>
#include <algorithm>
#include <charconv>
#include <optional>

namespace app {

namespace {

struct Texts {
    Q_DECLARE_TR_FUNCTIONS(ThroughputChart)
};

std::optional<double> numberIn(const std::string& text)
{
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

QString rateText(double value, double)
{
    return value == 0 ? QStringLiteral("0") : formatSignificant(value);
}

/// Both arms of a trial. The interval is that of the ratio, so only the changed arm has one.
void addTrial(std::vector<XyChart::Point>& points, const advisor::TuneTrial& trial, const advisor::Toggle& change)
{
    const auto from = numberIn(change.from), to = numberIn(change.to);
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
            if (const auto value = numberIn(run.configuration.text(key))) {
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
