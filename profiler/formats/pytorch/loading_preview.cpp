#include "profiler/formats/pytorch/loading_preview.h"

#include "profiler/formats/container/spill_file.h"
#include "profiler/formats/pytorch/assemble.h"

#include <algorithm>
#include <memory>

namespace profiler::formats::json {

namespace {

constexpr int kLater = 4;           ///< later waits are this many times the first one
constexpr std::uint64_t kShare = 8; ///< previews may take this fraction (1/n) of the memory for columns

} // namespace

LoadingPreview::LoadingPreview(const ReadOptions& options)
    : m_options(options), m_next(Clock::now() + options.previewAfter),
      m_room((options.memoryBudget > 0 ? options.memoryBudget : packed::shareOfMemory()) / kShare)
{
}

void LoadingPreview::show(SharedBuild& shared, const ScanResult& whole)
{
    if (!m_options.preview || m_room == 0 || Clock::now() < m_next)
        return;
    const std::uint64_t taken = shared.builder.sealPreview();
    m_room -= std::min(m_room, taken);
    std::shared_ptr<const Trace> trace;
    shared.undisturbed([&] {
        Losses discarded; // losses are reported at the end
        assembleRows(shared, whole, discarded);
        trace = shared.builder.snapshot();
    });
    if (trace->sliceCount() > 0)
        m_options.preview(std::move(trace));
    m_next = Clock::now() + kLater * m_options.previewAfter;
}

} // namespace profiler::formats::json
