#include "app/terminal/recordings.h"

#include "advisor/change/program_setup.h"
#include "profiler/formats/format.h"
#include "profiler/os/files.h"

#include <cstdlib>
#include <fmt/format.h>
#include <string>

namespace app::terminal {

using namespace advisor;

namespace fs = std::filesystem;
using profiler::Result;

TemporaryFolder::TemporaryFolder()
{
    m_path = profiler::os::createTemporaryFolder(fs::temp_directory_path() / "stepscope-tune-").value_or("");
}

TemporaryFolder::~TemporaryFolder()
{
    std::error_code ignored;
    if (!m_path.empty())
        fs::remove_all(m_path, ignored);
}

Result<std::shared_ptr<const profiler::Trace>>
Recordings::record(const ProgramSetup& setup, const ProgramVariant& variant, const std::stop_token& stop)
{
    if (m_folder.path().empty())
        return profiler::fail<"recording.no_folder", "No temporary folder could be created">(
            profiler::Error::Code::NoSpace, fs::temp_directory_path().string(), "set TMPDIR to another folder");
    const fs::path file = m_folder.path() / fmt::format("{}.sstrace", ++m_count);
    if (const auto recorded = change::recordVariant(setup, variant, file, stop); !recorded)
        return tl::unexpected(recorded.error());
    return profiler::formats::openTrace(file);
}

} // namespace app::terminal
