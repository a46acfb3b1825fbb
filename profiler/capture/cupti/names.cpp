#include "profiler/capture/cupti/names.h"

namespace profiler::capture {

CopyKind copyKind(unsigned kind)
{
    switch (kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOA:
        return CopyKind::HtoD;
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOH:
        return CopyKind::DtoH;
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOA:
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOA:
        return CopyKind::DtoD;
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOH:
        return CopyKind::HtoH;
    case CUPTI_ACTIVITY_MEMCPY_KIND_PTOP:
        return CopyKind::PtoP;
    default:
        return CopyKind::Unknown;
    }
}

MemoryKind memoryKind(unsigned kind)
{
    switch (kind) {
    case CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE:
        return MemoryKind::Pageable;
    case CUPTI_ACTIVITY_MEMORY_KIND_PINNED:
        return MemoryKind::Pinned;
    case CUPTI_ACTIVITY_MEMORY_KIND_DEVICE:
    case CUPTI_ACTIVITY_MEMORY_KIND_DEVICE_STATIC:
        return MemoryKind::Device;
    case CUPTI_ACTIVITY_MEMORY_KIND_ARRAY:
        return MemoryKind::Array;
    case CUPTI_ACTIVITY_MEMORY_KIND_MANAGED:
    case CUPTI_ACTIVITY_MEMORY_KIND_MANAGED_STATIC:
        return MemoryKind::Managed;
    default:
        return MemoryKind::Unknown;
    }
}

std::string_view overheadName(CUpti_ActivityOverheadKind kind)
{
    switch (kind) {
    case CUPTI_ACTIVITY_OVERHEAD_DRIVER_COMPILER:
        return "driver compiler";
    case CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH:
        return "profiler buffer flush";
    case CUPTI_ACTIVITY_OVERHEAD_CUPTI_INSTRUMENTATION:
        return "profiler instrumentation";
    case CUPTI_ACTIVITY_OVERHEAD_CUPTI_RESOURCE:
        return "profiler resources";
    case CUPTI_ACTIVITY_OVERHEAD_RUNTIME_TRIGGERED_MODULE_LOADING:
        return "module loading";
    case CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING:
        return "lazy function loading";
    case CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL:
        return "command buffer full";
    case CUPTI_ACTIVITY_OVERHEAD_ACTIVITY_BUFFER_REQUEST:
        return "profiler buffer request";
    case CUPTI_ACTIVITY_OVERHEAD_UVM_ACTIVITY_INIT:
        return "managed memory tracing";
    default:
        return "overhead";
    }
}

std::string_view syncName(CUpti_ActivitySynchronizationType type)
{
    switch (type) {
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE:
        return "Event Sync";
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE:
        return "Stream Sync";
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE:
        return "Context Sync";
    default:
        return "Sync";
    }
}

std::string uuidText(const CUuuid& uuid)
{
    std::string text = "GPU-";
    for (int i = 0; i < 16; ++i) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            text += '-';
        for (const int shift : {4, 0})
            text += "0123456789abcdef"[static_cast<unsigned char>(uuid.bytes[i]) >> shift & 15];
    }
    return text;
}

std::string_view memoryWord(MemoryKind kind)
{
    switch (kind) {
    case MemoryKind::Pageable:
        return "Pageable";
    case MemoryKind::Pinned:
        return "Pinned";
    case MemoryKind::Device:
        return "Device";
    case MemoryKind::Array:
        return "Array";
    case MemoryKind::Managed:
        return "Managed";
    case MemoryKind::Unknown:
        break;
    }
    return "Unknown";
}

std::string_view callWithoutVersion(std::string_view name)
{
    // The version has at least four digits; "_v2" belongs to the name.
    const std::size_t at = name.rfind("_v");
    if (at != std::string_view::npos && name.size() - at >= 6 &&
        name.find_first_not_of("0123456789", at + 2) == std::string_view::npos)
        name = name.substr(0, at);
    for (const std::string_view perThread : {"_ptsz", "_ptds"})
        if (name.ends_with(perThread))
            name.remove_suffix(perThread.size());
    return name;
}

} // namespace profiler::capture
