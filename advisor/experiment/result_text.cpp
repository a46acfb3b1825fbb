#include "advisor/experiment/result_text.h"

#include "advisor/numbers.h"
#include "advisor/prediction/saving.h"

#include <cmath>
#include <fmt/format.h>

namespace advisor {

namespace {

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

} // namespace advisor
