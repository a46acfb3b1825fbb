#include "trainer/parallel/cuda_plugin.h"

#include "profiler/model/result.h"
#include "profiler/os/libraries.h"

#include <filesystem>
#include <string>

namespace trainer {

namespace {

using profiler::os::Library;

constexpr const char *kFile = "libstepscope_cuda.so", *kHint = "reinstall Stepscope";

const CudaPlugin& open()
{
    std::error_code ignored;
    const auto program = std::filesystem::read_symlink("/proc/self/exe", ignored);
    // In the program's folder in a build, in the private library folder of an installation.
    Library library;
    for (const char* folder : {".", "../lib/stepscope"})
        if (!library)
            library = Library::open((program.parent_path() / folder / kFile).c_str(), Library::Binding::Now,
                                    Library::Scope::Global);
    if (!library)
        profiler::throwError<"cuda.library_not_loaded", "Stepscope's CUDA library cannot be loaded: {why}">(
            profiler::Error::Code::Unavailable, kFile, kHint, {{"why", Library::lastError()}});
    auto* const entry = library.function<const CudaPlugin*()>("stepscope_cuda_plugin");
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
