#include "trainer/session/host.h"

#include "profiler/os/memory.h"
#include "profiler/os/threads.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <optional>
#include <sstream>

namespace trainer {

namespace fs = std::filesystem;

namespace {

std::string wholeFile(const fs::path& path)
{
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

// The process's own control group: the text after the last colon of the line that starts with `prefix`
// ("0::/user.slice").
std::string groupOf(const fs::path& root, const std::string& prefix)
{
    std::istringstream lines(wholeFile(root / "proc/self/cgroup"));
    for (std::string line; std::getline(lines, line);)
        if (line.find(prefix) != std::string::npos)
            return line.substr(line.rfind(':') + 1);
    return "/";
}

std::optional<double> quotaShare(const std::string& quota, const std::string& period)
{
    char* end = nullptr;
    const double part = std::strtod(quota.c_str(), &end);
    if (end == quota.c_str() || part <= 0) // "max", "-1", or the file does not exist
        return std::nullopt;
    const double whole = std::strtod(period.c_str(), nullptr);
    return whole > 0 ? std::optional(part / whole) : std::nullopt;
}

// Limits apply from every ancestor, so the loop walks up to the root of the hierarchy.
std::optional<double> smallestQuota(const fs::path& mount, fs::path group, bool second)
{
    std::optional<double> smallest;
    for (;; group = group.parent_path()) {
        const fs::path folder = mount / group.relative_path();
        std::string quota, period;
        if (second)
            std::istringstream(wholeFile(folder / "cpu.max")) >> quota >> period;
        else {
            quota = wholeFile(folder / "cpu.cfs_quota_us");
            period = wholeFile(folder / "cpu.cfs_period_us");
        }
        if (const auto share = quotaShare(quota, period); share && (!smallest || *share < *smallest))
            smallest = share;
        if (!group.has_relative_path())
            return smallest;
    }
}

} // namespace

int usableCores(const fs::path& root)
{
    int cores = profiler::os::allowedCores();
    const auto second = smallestQuota(root / "sys/fs/cgroup", groupOf(root, "0::"), true);
    const auto first = smallestQuota(root / "sys/fs/cgroup/cpu", groupOf(root, ":cpu"), false);
    for (const auto& quota : {second, first})
        if (quota)
            cores = std::min(cores, static_cast<int>(std::ceil(*quota)));
    return std::max(cores, 1);
}

std::int64_t residentBytes()
{
    return static_cast<std::int64_t>(profiler::os::residentMemory());
}

std::int64_t peakResidentBytes()
{
    return static_cast<std::int64_t>(profiler::os::peakResidentMemory());
}

} // namespace trainer
