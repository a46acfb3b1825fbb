#include "advisor/cli/commands.h"
#include "profiler/io/wire/tailing_reader.h"

namespace advisor::cli {

profiler::Result<std::shared_ptr<const profiler::Trace>> openTrace(const std::filesystem::path& path)
{
    return profiler::wire::readTrace(path);
}

} // namespace advisor::cli
