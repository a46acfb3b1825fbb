#include "profiler/capture/injection/process_name.h"

#include "profiler/os/files.h"

#include <algorithm>

namespace profiler::capture::injection {

namespace {
constexpr std::size_t kMostRead = 4096, kLongest = 120; // bytes
// What Python runs in a process that multiprocessing spawns: `python -c "from multiprocessing.spawn import …"`.
constexpr std::string_view kSpawned = "from multiprocessing.spawn import";
} // namespace

std::string processName()
{
    return processNameOf(os::readFile("/proc/self/cmdline", kMostRead).value_or(""));
}

std::string processNameOf(std::string_view commandLine)
{
    std::string line(commandLine);
    const bool isSpawned = line.find(kSpawned) != std::string::npos;
    const std::size_t programEnd = std::min(line.find('\0'), line.size());
    if (const std::size_t slash = line.rfind('/', programEnd); slash != std::string::npos && slash < programEnd)
        line.erase(0, slash + 1);
    if (isSpawned)
        return line.substr(0, line.find('\0')) + " (process spawned by multiprocessing)";
    while (!line.empty() && line.back() == '\0')
        line.pop_back();
    std::replace(line.begin(), line.end(), '\0', ' ');
    std::replace_if(
        line.begin(), line.end(), [](unsigned char c) { return c < ' '; }, ' ');
    if (line.size() > kLongest) {
        // Do not cut in the middle of a UTF-8 character.
        std::size_t end = kLongest;
        while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xC0) == 0x80)
            --end;
        line.erase(end);
        line += "…";
    }
    return line;
}

} // namespace profiler::capture::injection
