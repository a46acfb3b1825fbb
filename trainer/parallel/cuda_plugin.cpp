#include "trainer/parallel/cuda_plugin.h"

#include "profiler/model/failure.h"

#include <dlfcn.h>
#include <filesystem>
#include <string>

namespace trainer {

namespace {

constexpr const char *kFile = "libstepscope_cuda.so", *kHint = "reinstall Stepscope";

const CudaPlugin& open()
{
    std::error_code ignored;
    const auto program = std::filesystem::read_symlink("/proc/self/exe", ignored);
    // In the program's folder in a build, in the private library folder of an installation.
    void* library = nullptr;
    for (const char* folder : {".", "../lib/stepscope"})
        if (!library)
            library = dlopen((program.parent_path() / folder / kFile).c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (!library)
        profiler::throwError<"cuda.library_not_loaded", "Stepscope's CUDA library cannot be loaded: {why}">(
            profiler::Error::Code::Unavailable, kFile, kHint, {{"why", dlerror()}});
    const auto entry = reinterpret_cast<const CudaPlugin* (*)()>(dlsym(library, "stepscope_cuda_plugin"));
    if (!entry)
        profiler::throwError<"cuda.library_version", "Stepscope's CUDA library has another version than the trainer">(
            profiler::Error::Code::Unsupported, kFile, kHint);
    return *entry();
}

} // namespace

const CudaPlugin& cudaPlugin()
{
    static const CudaPlugin& plugin = open();
    return plugin;
}

} // namespace trainer
