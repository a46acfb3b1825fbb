#include "profiler/capture/system_load.h"

#include "profiler/os/files.h"

#include <charconv>
#include <string>

namespace profiler::capture {

namespace {

/// Removes the next word from the start of `text` and returns it.
std::string_view takeWord(std::string_view& text)
{
    const std::size_t begin = text.find_first_not_of(" \t");
    if (begin == std::string_view::npos) {
        text = {};
        return {};
    }
    const std::size_t end = text.find_first_of(" \t", begin);
    const std::string_view word = text.substr(begin, end == std::string_view::npos ? end : end - begin);
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end);
    return word;
}

bool isNumber(std::string_view word, std::uint64_t& number)
{
    const char* const end = word.data() + word.size();
    return !word.empty() && std::from_chars(word.data(), end, number).ptr == end;
}

/// The number after "key:" on a separate line.
std::uint64_t valueOf(std::string_view text, std::string_view key)
{
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        std::string_view line = text.substr(at, end - at);
        at = end + 1;
        if (!line.starts_with(key) || line.size() <= key.size() || line[key.size()] != ':')
            continue;
        line.remove_prefix(key.size() + 1);
        std::uint64_t number = 0;
        return isNumber(takeWord(line), number) ? number : 0;
    }
    return 0;
}

} // namespace

std::vector<CoreTimes> parseCoreTimes(std::string_view stat)
{
    // user nice system idle iowait irq softirq steal; guest times are already included in user and nice.
    constexpr int kFields = 8, kIdle = 3, kWaitsForDisk = 4;
    std::vector<CoreTimes> cores;
    for (std::size_t at = 0; at < stat.size();) {
        const std::size_t end = std::min(stat.find('\n', at), stat.size());
        std::string_view line = stat.substr(at, end - at);
        at = end + 1;
        std::string_view name = takeWord(line);
        std::uint64_t core = 0;
        if (!name.starts_with("cpu") || !isNumber(name.substr(3), core))
            continue;
        CoreTimes times;
        times.core = static_cast<int>(core);
        bool whole = true;
        for (int field = 0; field < kFields; ++field) {
            std::uint64_t ticks = 0;
            whole = whole && isNumber(takeWord(line), ticks);
            times.all += ticks;
            times.busy += field == kIdle || field == kWaitsForDisk ? 0 : ticks;
        }
        if (whole)
            cores.push_back(times);
    }
    return cores;
}

std::optional<double> coreLoad(const CoreTimes& before, const CoreTimes& now)
{
    if (now.all <= before.all || now.busy < before.busy)
        return std::nullopt;
    return static_cast<double>(now.busy - before.busy) / static_cast<double>(now.all - before.all);
}

ProcessUse parseProcessUse(std::string_view stat, std::string_view status, std::string_view io)
{
    ProcessUse use;
    // The program's name may contain spaces and parentheses, so count the fields after it.
    const std::size_t name = stat.rfind(')');
    std::string_view fields = name == std::string_view::npos ? std::string_view{} : stat.substr(name + 1);
    constexpr int kMinorFaults = 10, kMajorFaults = 12; // field numbers of proc(5); the first field after the name is 3
    for (int field = 3; field <= kMajorFaults; ++field) {
        std::uint64_t number = 0;
        const bool read = isNumber(takeWord(fields), number);
        if (read && field == kMinorFaults)
            use.minorFaults = number;
        if (read && field == kMajorFaults)
            use.majorFaults = number;
    }
    use.residentBytes = valueOf(status, "VmRSS") * 1024;
    use.switchesWaiting = valueOf(status, "voluntary_ctxt_switches");
    use.switchesForced = valueOf(status, "nonvoluntary_ctxt_switches");
    use.diskReadBytes = valueOf(io, "read_bytes");
    return use;
}

std::optional<ProcessUse> readProcessUse(std::int64_t pid)
{
    const auto folder = std::filesystem::path("/proc") / std::to_string(pid);
    const std::string stat = readKernelFile(folder / "stat");
    if (stat.empty())
        return std::nullopt;
    return parseProcessUse(stat, readKernelFile(folder / "status"), readKernelFile(folder / "io"));
}

std::string readKernelFile(const std::filesystem::path& path)
{
    return os::readFile(path).value_or("");
}

} // namespace profiler::capture
