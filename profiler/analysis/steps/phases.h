#pragma once

#include "profiler/analysis/intervals.h"
#include "profiler/analysis/slice_queries.h"
#include "profiler/model/trace.h"

#include <string_view>
#include <vector>

/// The phases of a step: those that a trace marks, and the times of those that it does not.
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

/// The times in which the steps' thread waits for a backward pass on autograd's threads, as autograd does for gradients
/// on a GPU: from the first to the last node of a pass, as long as the steps' thread records nothing in between. Empty
/// for Stepscope's own traces, whose phases provide this.
/// @param track  the track of the steps
Intervals backwardPasses(const Trace& trace, const Phases& phases, TrackId track);

/// True for the names of autograd nodes before PyTorch 1.9: "CudnnConvolutionBackward", "ReluBackward1",
/// "torch::autograd::AccumulateGrad".
bool isOldNode(std::string_view name);

/// The times in which the steps' thread was in phases without marks, in a trace with backward passes. PyTorch's
/// profiler marks the loader, the optimizer and autograd's nodes; the other phases follow from these.
struct InferredPhases {
    /// From the first to the last operator for which a backward pass computes gradients: autograd gives a node the
    /// sequence number of its operator. If numbers were not recorded: from the first to the last operator of a step
    /// before its first node.
    Intervals forward;
    Intervals copy;    ///< aten::to, aten::_to_copy and aten::copy_ between a backward pass and the next forward pass
    Intervals metrics; ///< aten::item and aten::_local_scalar_dense outside of forward passes
};

/// Excludes marked phases and the times of autograd's own threads. All are empty for Stepscope's own traces, whose
/// phases provide this, and for traces without backward passes.
/// @param steps     in order, of the thread `track`
/// @param backward  times in which the thread waits for autograd, see backwardPasses()
InferredPhases inferPhases(const Trace& trace, const Phases& phases, TrackId track, const std::vector<TimeRange>& steps,
                           const Intervals& backward);

} // namespace profiler::analysis
