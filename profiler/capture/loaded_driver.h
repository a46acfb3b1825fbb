#pragma once

#include "profiler/os/libraries.h"

namespace profiler::capture {

/// Calls cuDriverGetVersion of the driver that the process has loaded; does nothing without one. Does not link to
/// libcuda, which is missing on machines without a GPU. Thread-safe.
inline void callLoadedDriver()
{
    static auto* const s_getVersion = os::Library::loaded("libcuda.so.1").function<int(int*)>("cuDriverGetVersion");
    int version = 0;
    if (s_getVersion)
        s_getVersion(&version);
}

} // namespace profiler::capture
