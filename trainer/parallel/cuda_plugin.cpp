#include "trainer/parallel/cuda_plugin.h"

#include <dlfcn.h>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace trainer {

namespace {

const CudaPlugin& open()
{
    std::error_code ignored;
    const auto program = std::filesystem::read_symlink("/proc/self/exe", ignored);
    // Beside the program in a build, in the private library folder of an installation.
    void* library = nullptr;
    for (const char* place : {"libstepscope_cuda.so", "../lib/stepscope/libstepscope_cuda.so"})
        if (!library)
            library = dlopen((program.parent_path() / place).c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (!library)
        throw std::runtime_error(std::string("Stepscope's CUDA library cannot be loaded: ") + dlerror());
    const auto entry = reinterpret_cast<const CudaPlugin* (*)()>(dlsym(library, "stepscope_cuda_plugin"));
    if (!entry)
        throw std::runtime_error("libstepscope_cuda.so is of another version");
    return *entry();
}

} // namespace

const CudaPlugin& cudaPlugin()
{
    static const CudaPlugin& plugin = open();
    return plugin;
}

} // namespace trainer
