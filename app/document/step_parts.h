#pragma once

#include "app/look/kind_palette.h"
#include "profiler/analysis/steps/steps.h"
#include "profiler/model/trace.h"

#include <QString>
#include <array>
#include <optional>
#include <string_view>

namespace app {

/// A part of a step with its display name and colour.
struct StepPart {
    SliceClass which;
    const char* name;       ///< to be translated: stepPartName()
    std::string_view phase; ///< name of its phase slices; "" for the rest
    profiler::Nanoseconds profiler::analysis::StepParts::*time;
};

/// In their order within a step.
inline constexpr std::array<StepPart, 8> kStepParts = {{
    {SliceClass::DataWait, QT_TRANSLATE_NOOP("StepParts", "data wait"), profiler::phase::kDataWait,
     &profiler::analysis::StepParts::dataWait},
    {SliceClass::CopyToDevice, QT_TRANSLATE_NOOP("StepParts", "copy"), profiler::phase::kCopy,
     &profiler::analysis::StepParts::copy},
    {SliceClass::Memset, QT_TRANSLATE_NOOP("StepParts", "zero grad"), profiler::phase::kZeroGrad,
     &profiler::analysis::StepParts::zeroGrad},
    {SliceClass::Forward, QT_TRANSLATE_NOOP("StepParts", "forward"), profiler::phase::kForward,
     &profiler::analysis::StepParts::forward},
    {SliceClass::Backward, QT_TRANSLATE_NOOP("StepParts", "backward"), profiler::phase::kBackward,
     &profiler::analysis::StepParts::backward},
    {SliceClass::Optimizer, QT_TRANSLATE_NOOP("StepParts", "optimizer"), profiler::phase::kOptimizer,
     &profiler::analysis::StepParts::optimizer},
    {SliceClass::CopyToHost, QT_TRANSLATE_NOOP("StepParts", "metrics"), profiler::phase::kMetrics,
     &profiler::analysis::StepParts::metrics},
    {SliceClass::Other, QT_TRANSLATE_NOOP("StepParts", "other"), {}, &profiler::analysis::StepParts::other},
}};

QString stepPartName(const StepPart& part);

/// The target of a row or bar.
struct Evidence {
    std::optional<profiler::SliceId> slice;
    std::optional<profiler::TimeRange> range;
    friend bool operator==(const Evidence&, const Evidence&) = default;
};

/// The slice that shows a part best: the longest slice of the part in the steady step with the largest share of it; for
/// "other", that step.
Evidence evidenceOf(const profiler::Trace& trace, const std::vector<profiler::analysis::Step>& steps,
                    const StepPart& part);
/// The longest slice of a loader stage in the first steady steps that contain one.
Evidence evidenceOfStage(const profiler::Trace& trace, const std::vector<profiler::analysis::Step>& steps,
                         std::string_view stage);

} // namespace app
