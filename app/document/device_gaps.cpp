#include "app/document/device_gaps.h"

#include <QCoreApplication>
#include <algorithm>

namespace app {

std::span<const DeviceGaps::Gap> DeviceGaps::in(profiler::DeviceId device, profiler::TimeRange window) const
{
    const auto known = byDevice.find(device);
    if (known == byDevice.end())
        return {};
    const std::vector<Gap>& gaps = known->second;
    const auto first =
        std::partition_point(gaps.begin(), gaps.end(), [&](const Gap& gap) { return gap.range.end <= window.begin; });
    const auto last =
        std::partition_point(first, gaps.end(), [&](const Gap& gap) { return gap.range.begin < window.end; });
    return {first, last};
}

QString gapWord(std::string_view cause)
{
    struct Word {
        std::string_view cause;
        const char* text;
    };
    static constexpr Word kWords[] = {{"data_loader", QT_TRANSLATE_NOOP("Timeline", "waits for data")},
                                      {"launch", QT_TRANSLATE_NOOP("Timeline", "waits for launches")},
                                      {"sync", QT_TRANSLATE_NOOP("Timeline", "CPU synchronizes")},
                                      {"copy", QT_TRANSLATE_NOOP("Timeline", "blocking copy")},
                                      {"allocation", QT_TRANSLATE_NOOP("Timeline", "allocation")},
                                      {"communication", QT_TRANSLATE_NOOP("Timeline", "waits for other ranks")},
                                      {"lazy_loading", QT_TRANSLATE_NOOP("Timeline", "loads kernel code")},
                                      {"end_of_run", QT_TRANSLATE_NOOP("Timeline", "no more work")}};
    for (const Word& word : kWords)
        if (word.cause == cause)
            return QCoreApplication::translate("Timeline", word.text);
    return QCoreApplication::translate("Timeline", "idle");
}

} // namespace app
