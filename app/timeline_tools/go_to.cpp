#include "app/views/timeline/go_to.h"

#include <QRegularExpression>
#include <algorithm>
#include <cmath>

namespace app {

using profiler::Nanoseconds;

namespace {

constexpr double kFarthest = 9e18; ///< ns that fit into 64 bits

std::optional<Nanoseconds> nanoseconds(double value, double unit)
{
    const double ns = value * unit;
    if (!std::isfinite(ns) || std::abs(ns) > kFarthest)
        return std::nullopt;
    return Nanoseconds{std::llround(ns)};
}

} // namespace

std::optional<Destination> parseDestination(const QString& text)
{
    QString trimmed = text.trimmed().toLower();
    // A position in the app's format: "1,234.567 890 123 s".
    static const QRegularExpression betweenDigits(QStringLiteral("(?<=\\d)\\s+(?=\\d)"));
    trimmed.remove(betweenDigits);
    if (trimmed.contains(u'.'))
        trimmed.remove(u',');
    static const QRegularExpression step(QStringLiteral("^(?:step\\s*#?|#)\\s*(\\d{1,18})$"));
    if (const auto match = step.match(trimmed); match.hasMatch())
        return Destination(match.captured(1).toLongLong());
    static const QRegularExpression minutes(QStringLiteral("^(\\d{1,9}):(\\d{1,2}(?:\\.\\d+)?)$"));
    if (const auto match = minutes.match(trimmed); match.hasMatch()) {
        const auto time = nanoseconds(match.captured(1).toDouble() * 60 + match.captured(2).toDouble(), 1e9);
        return time ? std::optional<Destination>(*time) : std::nullopt;
    }
    static const QRegularExpression time(
        QStringLiteral("^(\\d+(?:[.,]\\d+)?|[.,]\\d+)\\s*(ns|us|µs|μs|ms|s|sec|min|h)$"));
    const auto match = time.match(trimmed);
    if (!match.hasMatch())
        return std::nullopt;
    const QString unit = match.captured(2);
    const double ns = unit == "ns"                   ? 1
                      : unit == "ms"                 ? 1e6
                      : unit == "min"                ? 60e9
                      : unit == "h"                  ? 3600e9
                      : unit == "s" || unit == "sec" ? 1e9
                                                     : 1e3;
    const auto found = nanoseconds(match.captured(1).replace(',', '.').toDouble(), ns);
    return found ? std::optional<Destination>(*found) : std::nullopt;
}

const profiler::analysis::Step* findStep(const Steps& steps, std::int64_t number)
{
    const auto found = std::find_if(steps.begin(), steps.end(), [&](const auto& step) { return step.index == number; });
    return found == steps.end() ? nullptr : &*found;
}

} // namespace app
