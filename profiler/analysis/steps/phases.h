#pragma once

#include "profiler/analysis/slice_view.h"
#include "profiler/model/trace.h"

#include <string_view>
#include <vector>

namespace profiler::analysis {

/// The name in profiler::phase that corresponds to a range of PyTorch's profiler; empty for other ranges.
std::string_view phaseOfRange(std::string_view name);
/// True for ranges of Python's garbage collector.
bool isGarbageCollection(std::string_view name);

/// The part of a step that a slice represents, in any trace: our own phases by name, and the corresponding ranges of
/// PyTorch under any category of old and new schemas ("enumerate(DataLoader)#…__next__", "enumerate(DataPipe)#…",
/// "Optimizer.step#SGD.step", "Optimizer.zero_grad#…", "DistributedDataParallel.forward", "autograd::engine::
/// evaluate_function: …").
class Phases {
public:
    /// Classifies each string of the trace once. The trace must outlive this object.
    explicit Phases(const Trace& trace);

    /// A name in profiler::phase (Phase slices may have other names); empty for a slice that is not a phase.
    [[nodiscard]] std::string_view of(ActivityKind kind, StringId name) const;
    [[nodiscard]] std::string_view of(const Slice& slice) const { return of(slice.kind, slice.name); }
    [[nodiscard]] std::string_view of(const SliceView& slice) const
    {
        const ActivityKind kind = slice.kind();
        return mayBePhase(kind) ? of(kind, slice.nameId()) : std::string_view();
    }
    /// True for a wait for a batch. If our hooks recorded both the waits and the operators of a Python program
    /// (metadata "ops.source"), PyTorch's annotation is the same wait on another track and does not count.
    [[nodiscard]] bool isDataWait(ActivityKind kind, StringId name) const
    {
        return of(kind, name) == phase::kDataWait && (!m_hooked || kind == ActivityKind::Phase);
    }
    [[nodiscard]] bool isDataWait(const Slice& slice) const { return isDataWait(slice.kind, slice.name); }
    [[nodiscard]] bool isDataWait(const SliceView& slice) const
    {
        const ActivityKind kind = slice.kind();
        return mayBePhase(kind) && isDataWait(kind, slice.nameId());
    }

private:
    static bool mayBePhase(ActivityKind kind)
    {
        return kind == ActivityKind::Phase || kind == ActivityKind::CpuOp || kind == ActivityKind::UserAnnotation;
    }

    const Trace& m_trace;
    bool m_hooked;
    std::vector<unsigned char> m_marks; ///< by string id: index of kMarks + 1; 0: not a mark
};

} // namespace profiler::analysis
