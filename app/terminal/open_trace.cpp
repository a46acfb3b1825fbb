#include "app/terminal/open_trace.h"

#include "app/terminal/interrupt.h"
#include "profiler/os/pipes.h"
#include "profiler_formats_formats_registry.h"

#include <chrono>
#include <cstdio>
#include <fmt/format.h>

namespace app::terminal {

using namespace advisor;

namespace {

// Shorter operations show no progress, which would only flicker.
constexpr auto kQuiet = std::chrono::milliseconds(500);
constexpr auto kBetweenLines = std::chrono::milliseconds(100);
constexpr int kStderr = 2;

} // namespace

ProgressLine::ProgressLine(std::string what) : m_what(std::move(what)), m_begin(Clock::now()), m_last(m_begin) {}

ProgressLine::~ProgressLine()
{
    if (m_shown)
        std::fputs("\r\x1b[K", stderr);
}

void ProgressLine::show(double share)
{
    if (interrupts() > 0)
        m_stop.request_stop();
    const auto now = Clock::now();
    if (now - m_begin < kQuiet || now - m_last < kBetweenLines || !profiler::os::isTerminal(kStderr))
        return;
    m_last = now;
    m_shown = true;
    std::fputs(fmt::format("\r\x1b[K{} … {:.0f} %", m_what, share * 100).c_str(), stderr);
}

profiler::Result<std::shared_ptr<const profiler::Trace>> openTrace(const std::filesystem::path& path)
{
    ProgressLine line("Reading " + path.filename().string());
    profiler::formats::ReadOptions options;
    options.progress = [&](double share) { line.show(share); };
    options.stop = line.stop();
    return profiler::formats::openTrace(path, options);
}

profiler::Result<void> checkTraceName(const std::filesystem::path& path, std::string_view command)
{
    using profiler::Error;
    const std::string name = path.filename().string();
    for (const auto& [stem, format] : profiler::formats::all())
        for (const std::string_view extension : format.extensions)
            if (stem != "stepscope" && name.ends_with(extension))
                return profiler::fail<"output.not_sstrace",
                                      "{command} writes only Stepscope's own format (.sstrace), not {extension}">(
                    Error::Code::Invalid, path.string(), fmt::format("{} into a .sstrace, then convert that", command),
                    {{"command", command}, {"extension", extension}});
    return {};
}

} // namespace app::terminal
