// A library that says of itself what a plug-in built long ago would say; no LibTorch in it.

namespace {
struct Plugin {
    unsigned version;
    const char* torchVersion;
};
constexpr Plugin kPlugin = {7, "1.2.3"};
} // namespace

#ifdef IS_PLUGIN
extern "C" const void* stepscope_plugin();
extern "C" const void* stepscope_plugin()
{
    return &kPlugin;
}
#else
extern "C" unsigned something_else();
extern "C" unsigned something_else()
{
    return kPlugin.version;
}
#endif
