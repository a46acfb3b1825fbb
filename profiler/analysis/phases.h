#pragma once

#include "profiler/analysis/slice_view.h"
#include "profiler/model/trace.h"

#include <string_view>
#include <vector>

namespace profiler::analysis {

/// The name of profiler::phase that PyTorch's profiler means by a range of this name; empty for any other.
std::string_view phaseOfRange(std::string_view name);

/// Which part of a step a slice stands for, in any trace: our own phases by their names, and the ranges by which
/// PyTorch marks the same things, whatever category an old or new schema gives them ("enumerate(DataLoader)#…__next__",
/// "enumerate(DataPipe)#…", "Optimizer.step#SGD.step", "Optimizer.zero_grad#…", "DistributedDataParallel.forward",
/// "autograd::engine:: evaluate_function: …").
class Phases {
public:
    /// Judges each string of the trace once. The trace must live as long.
    explicit Phases(const Trace& trace);

    /// A name of profiler::phase (a Phase slice may have others); empty for a slice that is no phase.
    [[nodiscard]] std::string_view of(ActivityKind kind, StringId name) const;
    [[nodiscard]] std::string_view of(const Slice& slice) const { return of(slice.kind, slice.name); }
    [[nodiscard]] std::string_view of(const SliceView& slice) const
    {
        const ActivityKind kind = slice.kind();
        return mayBePhase(kind) ? of(kind, slice.nameId()) : std::string_view();
    }
    /// A wait for a batch. Where our hooks recorded a Python program's waits and its operators besides (metadata
    /// "ops.source"), what PyTorch annotates is the same wait on another track, and is none.
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
    std::vector<unsigned char> m_marks; ///< by string id: index of kMarks + 1; 0: none
};

} // namespace profiler::analysis
