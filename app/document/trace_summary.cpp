#include "app/document/trace_summary.h"

#include "app/look/display_text.h"
#include "app/tables/slice_details.h"
#include "app/tables/table_query.h"
#include "profiler/analysis/operators/range_name.h"

#include <QCoreApplication>
#include <algorithm>
#include <utility>

namespace app {

using profiler::analysis::TimeClass;

namespace {

constexpr std::size_t kMostRanges = 50; // maximum length of a list

QString text(const char* source)
{
    return QCoreApplication::translate("TraceSummary", source);
}

double shareOf(profiler::Nanoseconds part, profiler::Nanoseconds whole)
{
    return whole.count() > 0 ? static_cast<double>(part.count()) / static_cast<double>(whole.count()) : 0;
}

} // namespace

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
                                      {"queued", QT_TRANSLATE_NOOP("Timeline", "work is queued")},
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

TraceSummary summarise(const std::shared_ptr<const profiler::Trace>& trace,
                       const std::vector<profiler::analysis::Step>& steps, const std::stop_token& stop)
{
    TraceSummary summary;
    const auto scan = profiler::analysis::scanActivity(*trace);
    if (stop.stop_requested())
        return summary;
    if (!steps.empty())
        summary.breakdown = profiler::analysis::breakdown(*trace, scan, steps);
    else
        for (const std::string_view name : profiler::analysis::repeatedRanges(*trace, kMostRanges))
            summary.ranges << asQString(name);
    summary.devices = profiler::analysis::deviceUse(*trace, scan);
    if (summary.devices.empty() || stop.stop_requested())
        return summary;
    const auto queued = profiler::analysis::queuedGaps(*trace, scan);
    summary.idle = profiler::analysis::idleCauses(scan, {}, &queued);
    summary.gaps = std::make_shared<const DeviceGaps>(DeviceGaps{profiler::analysis::idleStretches(scan, queued)});
    const TableQuery byName{{}, {}, {Field::Name}, std::make_shared<const Steps>(steps), {}};
    const auto kernels = runQuery(trace, kernelSubject(), byName, {}, stop);
    if (kernels && kernels->size() > 0)
        summary.kernels = kernels;
    return summary;
}

QString timeClassWord(TimeClass timeClass)
{
    switch (timeClass) {
    case TimeClass::Kernel:
        return text("kernels");
    case TimeClass::Memcpy:
        return text("copies");
    case TimeClass::Memset:
        return text("memset");
    case TimeClass::Communication:
        return text("exposed communication");
    case TimeClass::Runtime:
        return text("CUDA calls");
    case TimeClass::DataLoader:
        return text("waiting for data");
    case TimeClass::CpuOp:
        return text("CPU operators");
    case TimeClass::Other:
        return text("other");
    }
    return {};
}

SliceClass timeClassColour(TimeClass timeClass)
{
    switch (timeClass) {
    case TimeClass::Kernel:
        return SliceClass::Matrix;
    case TimeClass::Memcpy:
        return SliceClass::CopyToDevice;
    case TimeClass::Memset:
        return SliceClass::Memset;
    case TimeClass::Communication:
        return SliceClass::Communication;
    case TimeClass::Runtime:
        return SliceClass::Runtime;
    case TimeClass::DataLoader:
        return SliceClass::DataWait;
    case TimeClass::CpuOp:
        return SliceClass::Compute;
    case TimeClass::Other:
        return SliceClass::Other;
    }
    return SliceClass::Other;
}

QString idleCauseSentence(std::string_view cause)
{
    if (cause == "data_loader")
        return text("waiting for data");
    if (cause == "launch")
        return text("launch-bound: the CPU cannot launch kernels fast enough");
    if (cause == "queued")
        return text("the next work was already launched: the GPU did not wait for the CPU");
    if (cause == "sync")
        return text("the CPU waits for the GPU");
    if (cause == "copy")
        return text("blocking copies");
    if (cause == "allocation")
        return text("memory allocation");
    if (cause == "communication")
        return text("communication");
    if (cause == "lazy_loading")
        return text("loading kernel code before its first launch");
    if (cause == "end_of_run")
        return text("no more work after the end of the run");
    return cause == "other" ? text("other") : asQString(cause);
}

SliceClass idleCauseColour(std::string_view cause)
{
    if (cause == "data_loader")
        return SliceClass::DataWait;
    if (cause == "launch")
        return SliceClass::Compute;
    if (cause == "sync")
        return SliceClass::Sync;
    if (cause == "copy")
        return SliceClass::CopyToDevice;
    if (cause == "allocation")
        return SliceClass::Runtime;
    return cause == "communication" ? SliceClass::Communication : SliceClass::Other;
}

QString deviceSentence(const profiler::analysis::DeviceUse& device)
{
    const QString number = text("GPU %1").arg(device.id.value);
    const QString name = device.name.empty() ? number : QStringLiteral("%1 (%2)").arg(asQString(device.name), number);
    const QString streams = device.streams == 1 ? text("on one stream") : text("on %1 streams").arg(device.streams);
    return text("%1: running kernels %2 of %3, busy with any work %4, %5")
        .arg(name, formatShare(shareOf(device.busyKernel, device.span)), formatDuration(device.span),
             formatShare(shareOf(device.busyAny, device.span)), streams);
}

} // namespace app
