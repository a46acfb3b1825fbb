#include "profiler/capture/cupti/layout.h"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace profiler::capture {

namespace {

struct Layout {
    CUpti_ActivityKind kind;
    std::size_t size;  ///< size in our headers
    std::size_t older; ///< shortest size in version 12 whose fields are a prefix of ours; equal if it never changed
};

constexpr Layout kLayouts[] = {
    {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, sizeof(CUpti_ActivityKernel10), sizeof(CUpti_ActivityKernel9)},
    {CUPTI_ACTIVITY_KIND_MEMCPY, sizeof(CUpti_ActivityMemcpy6), sizeof(CUpti_ActivityMemcpy5)},
    {CUPTI_ACTIVITY_KIND_MEMCPY2, sizeof(CUpti_ActivityMemcpyPtoP4), sizeof(CUpti_ActivityMemcpyPtoP4)},
    {CUPTI_ACTIVITY_KIND_MEMSET, sizeof(CUpti_ActivityMemset4), sizeof(CUpti_ActivityMemset4)},
    {CUPTI_ACTIVITY_KIND_RUNTIME, sizeof(CUpti_ActivityAPI), sizeof(CUpti_ActivityAPI)},
    {CUPTI_ACTIVITY_KIND_DRIVER, sizeof(CUpti_ActivityAPI), sizeof(CUpti_ActivityAPI)},
    {CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, sizeof(CUpti_ActivitySynchronization2),
     sizeof(CUpti_ActivitySynchronization)},
    {CUPTI_ACTIVITY_KIND_OVERHEAD, sizeof(CUpti_ActivityOverhead3), sizeof(CUpti_ActivityOverhead2)},
    {CUPTI_ACTIVITY_KIND_DEVICE, sizeof(CUpti_ActivityDevice5), sizeof(CUpti_ActivityDevice5)},
    {CUPTI_ACTIVITY_KIND_CUDA_EVENT, sizeof(CUpti_ActivityCudaEvent2), sizeof(CUpti_ActivityCudaEvent)},
    {CUPTI_ACTIVITY_KIND_MEMORY2, sizeof(CUpti_ActivityMemory4), sizeof(CUpti_ActivityMemory3)},
    {CUPTI_ACTIVITY_KIND_MEMORY_POOL, sizeof(CUpti_ActivityMemoryPool3), sizeof(CUpti_ActivityMemoryPool2)},
    {CUPTI_ACTIVITY_KIND_GRAPH_TRACE, sizeof(CUpti_ActivityGraphTrace2), sizeof(CUpti_ActivityGraphTrace)},
    {CUPTI_ACTIVITY_KIND_JIT, sizeof(CUpti_ActivityJit2), sizeof(CUpti_ActivityJit2)},
};
static_assert(std::all_of(std::begin(kLayouts), std::end(kLayouts), [](const Layout& layout) {
    return layout.older <= layout.size && layout.size <= kLargestCuptiRecord;
}));

const Layout* layoutOf(CUpti_ActivityKind kind)
{
    const auto* const at = std::find_if(std::begin(kLayouts), std::end(kLayouts),
                                        [&](const Layout& layout) { return layout.kind == kind; });
    return at != std::end(kLayouts) ? at : nullptr;
}

} // namespace

std::size_t cuptiRecordSize(CUpti_ActivityKind kind)
{
    const Layout* const layout = layoutOf(kind);
    return layout ? layout->size : 0;
}

const CUpti_Activity* wholeCuptiRecord(const CUpti_Activity& record, std::size_t bytes, std::uint32_t version,
                                       CuptiRecordSpace& space)
{
    const Layout* const layout = layoutOf(record.kind);
    if (!layout)
        return nullptr;
    if (bytes >= layout->size)
        return &record;
    if (version >= kCuptiVersion13 || bytes < layout->older)
        return nullptr;
    space.fill(std::byte{0});
    std::memcpy(space.data(), &record, bytes);
    return reinterpret_cast<const CUpti_Activity*>(space.data());
}

} // namespace profiler::capture
