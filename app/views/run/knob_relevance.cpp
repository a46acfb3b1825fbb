#include "app/views/run/knob_relevance.h"

#include "app/look/qstring.h"

#include <QCoreApplication>
#include <QStringList>
#include <vector>

namespace app {

namespace {

/// "a", "a or b", "a, b or c"; flags as displayed.
QString listed(const std::vector<std::string_view>& values)
{
    QStringList words;
    for (const std::string_view value : values)
        words << (value == "true" ? QCoreApplication::translate("KnobRow", "on") : asQString(value));
    const QString last = words.takeLast();
    return words.isEmpty() ? last : QCoreApplication::translate("KnobRow", "%1 or %2").arg(words.join(", "), last);
}

} // namespace

QString whyNoEffect(std::string_view knob, const config::TrainingConfig& configuration)
{
    const config::Knob* row = config::findKnob(knob);
    const config::Condition* unmet = row ? configuration.unmetCondition(*row) : nullptr;
    if (!unmet)
        return {};
    const QString on = asQString(config::findKnob(unmet->on)->label);
    return unmet->isOneOf
               ? QCoreApplication::translate("KnobRow", "No effect unless %1 is %2").arg(on, listed(unmet->values))
               : QCoreApplication::translate("KnobRow", "No effect while %1 is %2")
                     .arg(on, QString::fromStdString(configuration.text(unmet->on)));
}

QString whyNotHere(const config::Knob& knob, const config::protocol::Description* description)
{
    if (!knob.needsGpu || !description || description->gpuAvailable)
        return {};
    return QCoreApplication::translate("KnobRow", "Needs a GPU");
}

} // namespace app
