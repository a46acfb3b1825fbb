#pragma once

#include "app/look/kind_palette.h"
#include "app/tables/table_rows.h"
#include "profiler/analysis/device/device_use.h"
#include "profiler/analysis/steps/breakdown.h"
#include "profiler/analysis/steps/steps.h"
#include "profiler/model/trace.h"

#include <QString>
#include <QStringList>
#include <map>
#include <memory>
#include <span>
#include <stop_token>
#include <string_view>
#include <vector>

/// Overview of a trace: where its time goes, and when and why its devices idle. The analysis computes it; several views
/// show it.
namespace app {

/// Idle intervals of the devices and their causes, from an analysis. Immutable.
struct DeviceGaps {
    using Gap = profiler::analysis::IdleStretch;
    std::map<profiler::DeviceId, std::vector<Gap>> byDevice; ///< disjoint, sorted by start

    /// The intervals of a device that overlap a time range.
    [[nodiscard]] std::span<const Gap> in(profiler::DeviceId device, profiler::TimeRange window) const;
};

/// Short text of the cause: "waits for data".
QString gapWord(std::string_view cause);

/// Overview of a trace of any format, in addition to its steps.
struct TraceSummary {
    profiler::analysis::Breakdown breakdown; ///< breakdown of the step time; total 0 if there are no steps
    std::vector<profiler::analysis::DeviceUse> devices;
    std::vector<profiler::analysis::IdleCause> idle; ///< between each device's first and last operation
    std::shared_ptr<const DeviceGaps> gaps;          ///< the individual idle intervals; null: there is no device
                                                     ///< activity
    std::shared_ptr<const TableRows> kernels;        ///< by name, most time first; null: none
    QStringList ranges;                              ///< for a trace without steps: candidate ranges, most time first
    bool stepsRemoved = false;                       ///< the user removed inferred steps
    QString stepRange;                               ///< name of the ranges used as steps; empty: other step source
};

/// Makes several passes over the trace; do not call on the GUI thread.
/// @param stop  once requested, the remaining passes are skipped and the result must be discarded
TraceSummary summarise(const std::shared_ptr<const profiler::Trace>& trace,
                       const std::vector<profiler::analysis::Step>& steps, const std::stop_token& stop = {});

/// "kernels", "data loader": the label of a breakdown class, and its colour in all views.
QString timeClassWord(profiler::analysis::TimeClass timeClass);
SliceClass timeClassColour(profiler::analysis::TimeClass timeClass);
/// "launch-bound: the CPU cannot launch kernels fast enough": the description of an idle cause.
QString idleCauseSentence(std::string_view cause);
SliceClass idleCauseColour(std::string_view cause);
/// "Tesla V100 (GPU 0): running kernels 59.4 % of 1.05 s, busy with any work 60.3 %, on 2 streams".
QString deviceSentence(const profiler::analysis::DeviceUse& device);

} // namespace app
