#include "profiler/formats/container/ring_file.h"

namespace profiler::wire {

std::filesystem::path ringPath(const std::filesystem::path& trace)
{
    auto path = trace;
    path += ".ring";
    return path;
}

} // namespace profiler::wire
