#include "app/timeline_tools/go_to.h"

#include "app/document/selection.h"
#include "app/look/display_text.h"
#include "app/tables/slice_details.h"
#include "app/timeline/timeline_canvas.h"

#include <QCoreApplication>
#include <QInputDialog>
#include <QMessageBox>
#include <QPointer>
#include <QRegularExpression>
#include <algorithm>
#include <cmath>

namespace app {

using profiler::Nanoseconds;

namespace {

constexpr double kFarthest = 9e18; ///< ns that fit into 64 bits

struct Texts {
    Q_DECLARE_TR_FUNCTIONS(GoTo)
};

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

QString goTo(TimelineCanvas& canvas, Selection& selection, const QString& text)
{
    const auto destination = parseDestination(text);
    if (!destination)
        return Texts::tr("“%1” is neither a time (1.25 s, 340 ms) nor a step (step 12).").arg(text);
    const profiler::Trace& trace = *canvas.scene().trace;
    if (const auto* number = std::get_if<std::int64_t>(&*destination)) {
        const auto steps = canvas.scene().steps;
        if (!steps)
            return Texts::tr("The steps of this trace are not known yet. Try again in a moment.");
        const auto* step = findStep(*steps, *number);
        if (!step)
            return Texts::tr("This trace has no step %1.").arg(*number);
        if (!step->found && holds(trace, step->slice)) {
            canvas.selectAndShow(trace.slice(step->slice));
        } else { // the slice of an inferred step is only the first one in it
            selection.selectRange(step->range);
            canvas.bringIntoView(step->range);
        }
        return {};
    }
    const auto offset = std::get<Nanoseconds>(*destination);
    const profiler::TimeRange whole = canvas.scene().axis.bounds();
    if (offset > whole.duration())
        return Texts::tr("The trace ends at %1.").arg(formatPosition(whole.duration()));
    canvas.goToTime(whole.begin + offset);
    return {};
}

void askDestination(TimelineCanvas* canvas, Selection* selection)
{
    if (canvas->scene().axis.bounds().empty())
        return;
    auto* dialog = new QInputDialog(canvas);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setObjectName("goTo");
    dialog->setWindowTitle(Texts::tr("Go to"));
    dialog->setLabelText(Texts::tr("Time since the start, or a step: 1.25 s, 340 ms, step 12"));
    QObject::connect(dialog, &QInputDialog::textValueSelected, canvas,
                     [canvas, selection = QPointer(selection)](const QString& text) {
                         const QString error = selection ? goTo(*canvas, *selection, text) : QString();
                         if (error.isEmpty())
                             return;
                         auto* box = new QMessageBox(QMessageBox::Information, Texts::tr("Go to"), error,
                                                     QMessageBox::Ok, canvas);
                         box->setAttribute(Qt::WA_DeleteOnClose);
                         box->setTextFormat(Qt::PlainText);
                         box->open();
                     });
    dialog->open();
}

} // namespace app
