#pragma once

#include <dlfcn.h>

namespace profiler::capture {

/// Calls cuDriverGetVersion of the driver that the process has loaded; does nothing without one. Does not link to
/// libcuda, which is missing on machines without a GPU. Thread-safe.
inline void callLoadedDriver()
{
    using GetVersion = int (*)(int*);
    static const auto s_getVersion = [] {
        void* const driver = dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_LAZY);
        return driver ? reinterpret_cast<GetVersion>(dlsym(driver, "cuDriverGetVersion")) : nullptr;
    }();
    int version = 0;
    if (s_getVersion)
        s_getVersion(&version);
}

} // namespace profiler::capture
