#include "profiler/model/version.h"

namespace profiler {

std::string_view version()
{
    return STEPSCOPE_VERSION; // from the build
}

} // namespace profiler
