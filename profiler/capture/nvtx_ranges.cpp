#include "profiler/capture/nvtx_ranges.h"

#include "profiler/model/activity.h"

#include <array>
#include <nvtx3/nvToolsExt.h>
#include <string>

namespace profiler::capture {

namespace {

constexpr std::array kPhases = {phase::kDataWait, phase::kCopy,       phase::kZeroGrad,
                                phase::kForward,  phase::kBackward,   phase::kOptimizer,
                                phase::kMetrics,  phase::kValidation, phase::kWorkerStart};

nvtxEventAttributes_t emptyAttributes()
{
    nvtxEventAttributes_t attributes{};
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    return attributes;
}

} // namespace

struct NvtxRanges::Names {
    nvtxDomainHandle_t domain = nullptr;
    std::array<nvtxStringHandle_t, kPhases.size()> phases{};
};

NvtxRanges::NvtxRanges() : m(std::make_unique<Names>())
{
    m->domain = nvtxDomainCreateA("stepscope");
    for (std::size_t i = 0; i < kPhases.size(); ++i)
        m->phases[i] = nvtxDomainRegisterStringA(m->domain, std::string(kPhases[i]).c_str());
}

NvtxRanges::~NvtxRanges()
{
    if (m->domain)
        nvtxDomainDestroy(m->domain);
}

void NvtxRanges::push(std::string_view name) const
{
    // A null domain would be NVTX's default domain. Without a tool, our domain is null, and there is no listener
    // anyway.
    if (!m->domain)
        return;
    nvtxEventAttributes_t attributes = emptyAttributes();
    for (std::size_t i = 0; i < kPhases.size(); ++i)
        if (kPhases[i] == name && m->phases[i]) {
            attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
            attributes.message.registered = m->phases[i];
            nvtxDomainRangePushEx(m->domain, &attributes);
            return;
        }
    const std::string copy(name);
    attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
    attributes.message.ascii = copy.c_str();
    nvtxDomainRangePushEx(m->domain, &attributes);
}

void NvtxRanges::pop() const
{
    if (m->domain)
        nvtxDomainRangePop(m->domain);
}

} // namespace profiler::capture
