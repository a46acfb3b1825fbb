#include "app/findings/loss_charts.h"

#include "trainer/config/training_config.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

namespace app {

using advisor::LossPoint;

namespace {

constexpr int kColumns = 60; ///< points of a mean over seeds

struct Texts {
    Q_DECLARE_TR_FUNCTIONS(LossCharts)
};

XyChart::Axis axisOf(LossOver over)
{
    switch (over) {
    case LossOver::Time:
        return {Texts::tr("Training time (s)"), {}, tick::seconds};
    case LossOver::Samples:
        return {Texts::tr("Samples"), Texts::tr("samples"), tick::count};
    case LossOver::StepCount:
        break;
    }
    return {Texts::tr("Steps"), Texts::tr("steps"), tick::count};
}

/// A dashed line for the first of two, a solid one for the second.
XyChart::Series seriesOf(std::size_t which, const QString& name)
{
    XyChart::Series series;
    series.name = name;
    series.color = which == 0 ? SliceClass::DataWait : SliceClass::CopyToDevice;
    series.pen = which == 0 ? Qt::DashLine : Qt::SolidLine;
    return series;
}

double xOf(const LossPoint& point, LossOver over)
{
    return over == LossOver::Time ? point.seconds : point.samples;
}

/// Linear between two points; none outside of the points.
std::optional<double> lossAt(std::span<const LossPoint> points, double x, LossOver over)
{
    const auto after =
        std::find_if(points.begin(), points.end(), [&](const LossPoint& point) { return xOf(point, over) >= x; });
    if (after == points.end())
        return std::nullopt;
    if (after == points.begin())
        return xOf(*after, over) == x ? std::optional(after->loss) : std::nullopt;
    const double left = xOf(*(after - 1), over), right = xOf(*after, over);
    const double share = right > left ? (x - left) / (right - left) : 1;
    return (after - 1)->loss + share * (after->loss - (after - 1)->loss);
}

/// Where the curves of all seeds have values.
std::vector<XyChart::Point> meanOf(const std::vector<advisor::LossesOfSeed>& seeds, std::size_t arm, LossOver over)
{
    double first = 0, last = 0;
    for (std::size_t seed = 0; seed < seeds.size(); ++seed) {
        const auto& points = seeds[seed][arm];
        if (points.empty())
            return {};
        first = std::max(first, xOf(points.front(), over));
        last = seed == 0 ? xOf(points.back(), over) : std::min(last, xOf(points.back(), over));
    }
    std::vector<XyChart::Point> means;
    const int columns = last > first ? kColumns : 1;
    for (int i = 0; i < columns; ++i) {
        XyChart::Point mean;
        mean.x = columns == 1 ? first : first + (last - first) * i / (columns - 1);
        double sum = 0;
        std::size_t count = 0;
        for (const advisor::LossesOfSeed& seed : seeds) {
            const auto loss = lossAt(seed[arm], std::min(mean.x, last), over);
            if (!loss || !std::isfinite(*loss))
                continue;
            mean.low = count == 0 ? *loss : std::min(mean.low, *loss);
            mean.high = count == 0 ? *loss : std::max(mean.high, *loss);
            sum += *loss;
            ++count;
        }
        if (count == 0)
            continue;
        mean.y = sum / static_cast<double>(count);
        if (count > 1)
            mean.note = Texts::tr("mean of %1 seeds").arg(count);
        means.push_back(std::move(mean));
    }
    return means;
}

} // namespace

XyChart::Content lossOfArms(const std::vector<advisor::LossesOfSeed>& seeds, LossOver over)
{
    XyChart::Content content;
    content.x = axisOf(over);
    content.y = {Texts::tr("Loss"), Texts::tr("loss"), tick::number};
    content.empty = Texts::tr("No losses of single steps were reported.");
    for (const std::size_t arm : {0, 1}) {
        XyChart::Series series =
            seriesOf(arm, arm == 0 ? Texts::tr("without the change") : Texts::tr("with the change"));
        series.points = meanOf(seeds, arm, over);
        content.series.push_back(std::move(series));
    }
    return content;
}

TraceLoss lossOfTrace(const profiler::Trace& trace, const std::vector<profiler::analysis::Step>& steps)
{
    TraceLoss found;
    if (const auto entry = trace.metadata().find("config"); entry != trace.metadata().end())
        if (const auto config = config::TrainingConfig::fromJson(entry->second))
            found.samplesPerStep = (*config)[config::key::batchSize] * (*config)[config::key::accumulation];
    const auto tracks = trace.tracks();
    const auto counter = std::find_if(tracks.begin(), tracks.end(), [](const profiler::Track& track) {
        return track.kind == profiler::TrackKind::Counter && track.name == "loss";
    });
    if (counter == tracks.end())
        return found;
    const auto samples = trace.counter(counter->id);
    if (samples.empty())
        return found;
    const profiler::TraceTime begin = steps.empty() ? samples.front().time : steps.front().range.begin;
    const std::size_t perPoint = samples.size() / kMostTracePoints + 1;
    TraceLoss::Point mean;
    std::size_t count = 0;
    for (std::size_t i = 0; i < samples.size(); ++i) {
        if (std::isfinite(samples[i].value)) {
            const auto done =
                std::partition_point(steps.begin(), steps.end(), [&](const profiler::analysis::Step& step) {
                    return step.range.end <= samples[i].time;
                });
            mean.seconds = static_cast<double>((samples[i].time - begin).count()) / 1e9;
            mean.steps = steps.empty() ? static_cast<double>(i + 1) : static_cast<double>(done - steps.begin());
            mean.loss += samples[i].value;
            ++count;
        }
        if ((i + 1) % perPoint != 0 && i + 1 < samples.size())
            continue;
        if (count > 0 && mean.seconds >= 0)
            found.points.push_back({mean.seconds, mean.steps, mean.loss / static_cast<double>(count)});
        mean = {};
        count = 0;
    }
    return found;
}

XyChart::Content lossOfTraces(const TraceLoss& other, const TraceLoss& shown, LossOver over)
{
    XyChart::Content content;
    content.x = axisOf(over);
    content.y = {Texts::tr("Loss"), Texts::tr("loss"), tick::number};
    content.empty = Texts::tr("Neither trace records the loss.");
    std::size_t which = 0;
    for (const TraceLoss* loss : {&other, &shown}) {
        XyChart::Series series = seriesOf(which++, loss->name);
        for (const TraceLoss::Point& point : loss->points) {
            const double x = over == LossOver::Time        ? point.seconds
                             : over == LossOver::StepCount ? point.steps
                                                           : point.steps * static_cast<double>(loss->samplesPerStep);
            series.points.push_back({x, point.loss, point.loss, point.loss});
        }
        content.series.push_back(std::move(series));
    }
    return content;
}

} // namespace app
