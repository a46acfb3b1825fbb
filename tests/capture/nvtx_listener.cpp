#include <cstdio>
#include <cstring>
#include <map>
#include <nvtx3/nvToolsExt.h>
#include <string>

// Prints each range it receives to standard output, one per line: "push <domain> <registered|text> <name>", "pop
// <domain>".
namespace {

struct Domain {
    std::string name;
    std::map<std::string, nvtxStringHandle_t> strings;
};

nvtxDomainHandle_t NVTX_API createDomain(const char* name)
{
    return reinterpret_cast<nvtxDomainHandle_t>(new Domain{name, {}}); // never destroyed
}

nvtxStringHandle_t NVTX_API registerString(nvtxDomainHandle_t, const char* text)
{
    return reinterpret_cast<nvtxStringHandle_t>(strdup(text));
}

const char* nameOf(nvtxDomainHandle_t domain)
{
    return domain ? reinterpret_cast<const Domain*>(domain)->name.c_str() : "-";
}

int NVTX_API push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* range)
{
    const bool registered = range->messageType == NVTX_MESSAGE_TYPE_REGISTERED;
    const char* text = registered ? reinterpret_cast<const char*>(range->message.registered) : range->message.ascii;
    std::printf("push %s %s %s\n", nameOf(domain), registered ? "registered" : "text", text);
    return 0;
}

int NVTX_API pop(nvtxDomainHandle_t domain)
{
    std::printf("pop %s\n", nameOf(domain));
    return 0;
}

template <class Function>
void listen(NvtxFunctionTable table, unsigned index, Function* function)
{
    *table[index] = reinterpret_cast<NvtxFunctionPointer>(function);
}

} // namespace

extern "C" int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t exports)
{
    const auto* callbacks = static_cast<const NvtxExportTableCallbacks*>(exports(NVTX_ETID_CALLBACKS));
    NvtxFunctionTable table = nullptr;
    unsigned count = 0;
    if (!callbacks || !callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &count))
        return 0;
    listen(table, NVTX_CBID_CORE2_DomainCreateA, createDomain);
    listen(table, NVTX_CBID_CORE2_DomainRegisterStringA, registerString);
    listen(table, NVTX_CBID_CORE2_DomainRangePushEx, push);
    listen(table, NVTX_CBID_CORE2_DomainRangePop, pop);
    return 1;
}
