#include "profiler/capture/injection/process_name.h"

#include <algorithm>
#include <fcntl.h>
#include <unistd.h>

namespace profiler::capture::injection {

namespace {
constexpr std::size_t kLongest = 120;
// What Python runs in a process that multiprocessing spawns: `python -c "from multiprocessing.spawn import …"`.
constexpr std::string_view kSpawned = "from multiprocessing.spawn import";
} // namespace

std::string processName()
{
    const int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return {};
    char bytes[4096];
    const ssize_t count = read(file, bytes, sizeof bytes);
    close(file);
    return processNameOf({bytes, static_cast<std::size_t>(std::max<ssize_t>(count, 0))});
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
