#include "profiler/analysis/steps/phases.h"

#include <array>

namespace profiler::analysis {
namespace {

struct Mark {
    std::string_view prefix, phase;
};
constexpr std::array<Mark, 7> kMarks = {{
    {"enumerate(DataLoader)", phase::kDataWait},
    {"enumerate(DataPipe)", phase::kDataWait},
    {"Optimizer.step", phase::kOptimizer},
    {"Optimizer.zero_grad", phase::kZeroGrad},
    {"DistributedDataParallel.forward", phase::kForward},
    {"DataParallel.forward", phase::kForward},
    {"autograd::engine::evaluate_function", phase::kBackward},
}};

/// Index in kMarks + 1; 0: not a mark.
unsigned char markOf(std::string_view name)
{
    for (std::size_t i = 0; i < kMarks.size(); ++i)
        if (name.starts_with(kMarks[i].prefix))
            return static_cast<unsigned char>(i + 1);
    return 0;
}

} // namespace

std::string_view phaseOfRange(std::string_view name)
{
    const unsigned char mark = markOf(name);
    return mark == 0 ? std::string_view() : kMarks[mark - 1].phase;
}

bool isGarbageCollection(std::string_view name)
{
    return name.find("gc.collect") != name.npos || name.find("arbage collect") != name.npos || name == "gc" ||
           name == "GC";
}

Phases::Phases(const Trace& trace)
    : m_trace(trace), m_hooked(trace.metadata().contains("ops.source")), m_marks(trace.stringCount())
{
    for (std::uint32_t id = 0; id < m_marks.size(); ++id)
        m_marks[id] = markOf(trace.string(StringId{id}));
}

std::string_view Phases::of(ActivityKind kind, StringId name) const
{
    if (kind == ActivityKind::Phase)
        return m_trace.string(name);
    if (!mayBePhase(kind))
        return {};
    const unsigned char mark = m_marks[name.value];
    return mark == 0 ? std::string_view() : kMarks[mark - 1].phase;
}

} // namespace profiler::analysis
