#include "advisor/experiment/machine_noise.h"

#include "advisor/advice.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <fstream>
#include <map>
#include <numeric>
#include <set>
#include <sstream>

namespace advisor {

namespace {

namespace fs = std::filesystem;
using profiler::message;
using profiler::Message;

constexpr std::string_view kUnseenProcesses = "processes that are not visible to Stepscope";
constexpr std::string_view kOtherMachines = "other virtual machines";

std::string textOf(const fs::path& path)
{
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

template <class Number>
std::optional<Number> numberIn(std::string_view text)
{
    const auto begin = text.find_first_not_of(" \t\n");
    Number value{};
    if (begin == text.npos || std::from_chars(text.data() + begin, text.data() + text.size(), value).ec != std::errc{})
        return std::nullopt;
    return value;
}

/// The number after `name` and white space or a colon, at the beginning of a line; 0 if there is none.
std::int64_t fieldOf(std::string_view text, std::string_view name)
{
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        const std::string_view line = text.substr(at, end - at);
        if (line.starts_with(name))
            if (const auto rest = line.substr(name.size()).find_first_not_of(": \t"); rest != line.npos)
                if (const auto value = numberIn<std::int64_t>(line.substr(name.size() + rest)))
                    return *value;
        at = end + 1;
    }
    return 0;
}

struct ProcessTimes {
    std::string name;
    std::int64_t parent = 0;
    std::int64_t ticks = 0;       ///< user and system
    std::int64_t reapedTicks = 0; ///< of children that have exited, and of their children
    std::int64_t majorFaults = 0;
};

/// @param stat text of /proc/<pid>/stat; the name is in parentheses and may contain parentheses
std::optional<ProcessTimes> parseProcess(const std::string& stat)
{
    const auto open = stat.find('('), close = stat.rfind(')');
    if (open == stat.npos || close == stat.npos || close < open)
        return std::nullopt;
    ProcessTimes process;
    process.name = stat.substr(open + 1, close - open - 1);
    std::string state;
    std::istringstream fields(stat.substr(close + 1));
    fields >> state >> process.parent;
    for (int field = 5; field <= 17; ++field) {
        std::int64_t value = 0;
        fields >> value;
        if (field == 12)
            process.majorFaults = value;
        if (field == 14 || field == 15)
            process.ticks += value;
        if (field == 16 || field == 17)
            process.reapedTicks += value;
    }
    return fields ? std::optional(process) : std::nullopt;
}

struct Snapshot {
    std::int64_t busy = 0, all = 0, stolen = 0; ///< ticks of all cores
    std::map<std::int64_t, ProcessTimes> processes;
    std::map<std::int64_t, std::int64_t> readBytes; ///< of our own processes
    std::int64_t reapedTicks = 0;                   ///< of our own children that have exited
    double clock = 0, hottest = 0;
    std::int64_t throttled = 0, swappedPages = 0;
};

class SystemMonitor final : public MachineMonitor {
public:
    explicit SystemMonitor(fs::path root) : m_root(std::move(root)), m_cores(countCores()) {}

    [[nodiscard]] double cores() const override { return m_cores; }

    void begin(std::span<const std::int64_t> own) override
    {
        m_own.assign(own.begin(), own.end());
        m_before = snapshot();
    }

    TurnConditions end(std::span<const std::int64_t> own) override
    {
        const std::vector<std::int64_t> atBegin = m_own;
        m_own.insert(m_own.end(), own.begin(), own.end());
        const Snapshot now = snapshot();
        TurnConditions turn;
        // Ticks of one core between the snapshots.
        const double elapsed = static_cast<double>(now.all - m_before.all) / std::max(1.0, m_cores);
        turn.seconds = elapsed / kTicksPerSecond;
        // Ticks are hundredths of a second: in a shorter time, single ticks would dominate the shares.
        if (elapsed >= kFewestTicks)
            addProcessorUse(turn, now, endedTicks(atBegin, now), elapsed);
        for (const std::int64_t pid : ownTree(now)) {
            const auto before = m_before.processes.find(pid);
            turn.majorFaults += now.processes.at(pid).majorFaults -
                                (before != m_before.processes.end() ? before->second.majorFaults : 0);
            const auto read = now.readBytes.find(pid);
            const auto had = m_before.readBytes.find(pid);
            if (read != now.readBytes.end())
                turn.readBytes += read->second - (had != m_before.readBytes.end() ? had->second : 0);
        }
        if (m_before.clock > 0 && now.clock > 0) {
            turn.clockLow = std::min(m_before.clock, now.clock);
            turn.clockHigh = std::max(m_before.clock, now.clock);
        }
        turn.hottest = std::max(m_before.hottest, now.hottest);
        turn.throttled = now.throttled - m_before.throttled;
        turn.swappedBytes = (now.swappedPages - m_before.swappedPages) * kPageBytes;
        return turn;
    }

private:
    static constexpr double kFewestTicks = 10;
    static constexpr double kTicksPerSecond = 100;   // USER_HZ in /proc on all common Linux platforms
    static constexpr std::int64_t kPageBytes = 4096; // /proc/vmstat counts pages of this size on x86 and most of arm64

    [[nodiscard]] double countCores() const
    {
        std::istringstream stat(textOf(m_root / "proc/stat"));
        double cores = 0;
        for (std::string line; std::getline(stat, line);)
            cores += line.starts_with("cpu") && line.size() > 3 && line[3] >= '0' && line[3] <= '9' ? 1 : 0;
        return std::max(1.0, cores);
    }

    [[nodiscard]] Snapshot snapshot() const
    {
        Snapshot now;
        readTimes(now);
        readProcesses(now);
        if (const auto self = parseProcess(textOf(m_root / "proc/self/stat")))
            now.reapedTicks = self->reapedTicks;
        for (const std::int64_t pid : ownTree(now))
            now.readBytes[pid] = fieldOf(textOf(m_root / "proc" / std::to_string(pid) / "io"), "read_bytes");
        const std::string memory = textOf(m_root / "proc/vmstat");
        now.swappedPages = fieldOf(memory, "pswpin") + fieldOf(memory, "pswpout");
        readClock(now);
        readHeat(now);
        return now;
    }

    void readTimes(Snapshot& now) const
    {
        // user nice system idle iowait irq softirq steal
        std::istringstream stat(textOf(m_root / "proc/stat"));
        std::string word;
        stat >> word;
        for (int field = 0; field < 8; ++field) {
            std::int64_t ticks = 0;
            stat >> ticks;
            now.all += ticks;
            now.busy += field == 3 || field == 4 ? 0 : ticks;
            now.stolen += field == 7 ? ticks : 0;
        }
    }

    void readProcesses(Snapshot& now) const
    {
        std::error_code error;
        for (const auto& entry : fs::directory_iterator(m_root / "proc", error))
            if (const auto pid = numberIn<std::int64_t>(entry.path().filename().string()))
                if (auto process = parseProcess(textOf(entry.path() / "stat"))) // no value: it has just exited
                    now.processes[*pid] = std::move(*process);
    }

    void readClock(Snapshot& now) const
    {
        double sum = 0, count = 0;
        std::error_code error;
        for (const auto& entry : fs::directory_iterator(m_root / "sys/devices/system/cpu", error))
            if (const auto kilohertz = numberIn<double>(textOf(entry.path() / "cpufreq/scaling_cur_freq"))) {
                sum += *kilohertz / 1000;
                ++count;
            }
        if (count == 0) {
            std::istringstream lines(textOf(m_root / "proc/cpuinfo"));
            for (std::string line; std::getline(lines, line);)
                if (const auto colon = line.find(':'); line.starts_with("cpu MHz") && colon != line.npos) {
                    sum += numberIn<double>(line.substr(colon + 1)).value_or(0);
                    ++count;
                }
        }
        now.clock = count > 0 ? sum / count : 0;
    }

    void readHeat(Snapshot& now) const
    {
        std::error_code error;
        for (const auto& zone : fs::directory_iterator(m_root / "sys/class/thermal", error))
            if (const auto milli = numberIn<double>(textOf(zone.path() / "temp")))
                now.hottest = std::max(now.hottest, *milli / 1000);
        for (const auto& core : fs::directory_iterator(m_root / "sys/devices/system/cpu", error))
            now.throttled +=
                numberIn<std::int64_t>(textOf(core.path() / "thermal_throttle/core_throttle_count")).value_or(0);
    }

    /// The arms' processes and all their descendants.
    [[nodiscard]] std::vector<std::int64_t> ownTree(const Snapshot& now) const { return treeOf(m_own, now); }

    /// Ticks that arms used within the turn if they exited during it: our own process reaped them and received their
    /// time. What they used before the turn does not count.
    [[nodiscard]] std::int64_t endedTicks(const std::vector<std::int64_t>& atBegin, const Snapshot& now) const
    {
        std::vector<std::int64_t> ended;
        std::copy_if(atBegin.begin(), atBegin.end(), std::back_inserter(ended),
                     [&](std::int64_t pid) { return !now.processes.contains(pid); });
        std::int64_t ticks = now.reapedTicks - m_before.reapedTicks;
        for (const std::int64_t pid : treeOf(ended, m_before))
            ticks -= m_before.processes.at(pid).ticks + m_before.processes.at(pid).reapedTicks;
        return std::max<std::int64_t>(ticks, 0);
    }

    [[nodiscard]] static std::vector<std::int64_t> treeOf(const std::vector<std::int64_t>& roots, const Snapshot& now)
    {
        std::set<std::int64_t> own(roots.begin(), roots.end());
        for (bool grew = true; grew;) {
            grew = false;
            for (const auto& [pid, process] : now.processes)
                grew = (own.contains(process.parent) && own.insert(pid).second) || grew;
        }
        std::vector<std::int64_t> present;
        for (const std::int64_t pid : own)
            if (now.processes.contains(pid))
                present.push_back(pid);
        return present;
    }

    void addProcessorUse(TurnConditions& turn, const Snapshot& now, std::int64_t ended, double elapsed) const
    {
        turn.ownCores = static_cast<double>(ended) / elapsed;
        const auto tree = ownTree(now);
        const std::set<std::int64_t> own(tree.begin(), tree.end());
        std::map<std::string, double> names;
        for (const auto& [pid, process] : now.processes) {
            const auto before = m_before.processes.find(pid);
            const auto ticks = process.ticks - (before != m_before.processes.end() ? before->second.ticks : 0);
            if (ticks <= 0)
                continue;
            if (own.contains(pid))
                turn.ownCores += static_cast<double>(ticks) / elapsed;
            else
                names[process.name] += static_cast<double>(ticks) / elapsed;
        }
        const double stolen = static_cast<double>(now.stolen - m_before.stolen) / elapsed;
        if (stolen > 0)
            names[std::string(kOtherMachines)] += stolen;
        const double named = std::accumulate(names.begin(), names.end(), 0.0,
                                             [](double sum, const auto& entry) { return sum + entry.second; });
        const double busy = static_cast<double>(now.busy - m_before.busy) / elapsed;
        turn.otherCores = std::max(named, busy - turn.ownCores);
        // Processes in other containers, or processes that exited during the turn. Ticks of single processes are
        // rounded, so small values are ignored.
        if (turn.otherCores - named > kDisturbedShare)
            names[std::string(kUnseenProcesses)] = turn.otherCores - named;
        for (const auto& [name, cores] : names)
            turn.others.push_back({name, cores});
        std::stable_sort(turn.others.begin(), turn.others.end(),
                         [](const CpuShare& a, const CpuShare& b) { return a.cores > b.cores; });
    }

    fs::path m_root;
    double m_cores;
    std::vector<std::int64_t> m_own;
    Snapshot m_before;
};

} // namespace

std::unique_ptr<MachineMonitor> systemMonitor(std::filesystem::path root)
{
    return std::make_unique<SystemMonitor>(std::move(root));
}

namespace {

/// Cores that other processes took from the arms, relative to the disturbance threshold: cores that the arms do not
/// need are free for others.
double crowding(const TurnConditions& turn, double cores, double needed)
{
    const double mostNeeded = std::min(std::max(needed, 1.0), cores);
    return (turn.otherCores - (cores - mostNeeded)) / (kDisturbedShare * mostNeeded);
}

bool hasSwapped(const TurnConditions& turn)
{
    return turn.swappedBytes > kDisturbedSwap;
}

void accumulate(TurnConditions& sum, const TurnConditions& turn)
{
    const double seconds = sum.seconds + turn.seconds;
    if (seconds > 0) {
        const auto mean = [&](double before, double now) {
            return (before * sum.seconds + now * turn.seconds) / seconds;
        };
        std::map<std::string, double> names;
        for (const CpuShare& share : sum.others)
            names[share.name] += share.cores * sum.seconds / seconds;
        for (const CpuShare& share : turn.others)
            names[share.name] += share.cores * turn.seconds / seconds;
        sum.others.clear();
        for (const auto& [name, cores] : names)
            sum.others.push_back({name, cores});
        std::stable_sort(sum.others.begin(), sum.others.end(),
                         [](const CpuShare& a, const CpuShare& b) { return a.cores > b.cores; });
        sum.ownCores = mean(sum.ownCores, turn.ownCores);
        sum.otherCores = mean(sum.otherCores, turn.otherCores);
    }
    sum.seconds = seconds;
    if (turn.clockLow > 0) {
        sum.clockLow = sum.clockLow > 0 ? std::min(sum.clockLow, turn.clockLow) : turn.clockLow;
        sum.clockHigh = std::max(sum.clockHigh, turn.clockHigh);
    }
    sum.hottest = std::max(sum.hottest, turn.hottest);
    sum.throttled += turn.throttled;
    sum.majorFaults += turn.majorFaults;
    sum.readBytes += turn.readBytes;
    sum.swappedBytes += turn.swappedBytes;
}

CpuShare mostBusy(const TurnConditions& turns)
{
    return turns.others.empty() ? CpuShare{std::string(kUnseenProcesses), turns.otherCores} : turns.others.front();
}

/// The strongest disturbance of these turns; no value if none is strong enough.
std::optional<Message> sourceOf(const TurnConditions& turns, const NoiseReport& report)
{
    const double seconds = std::max(turns.seconds, 1e-9);
    // Each value relative to its disturbance threshold.
    constexpr double kClockChange = 0.05, kReadRate = 10e6, kFaultRate = 20, kSwapRate = 1e6;
    const double clock = turns.clockLow > 0 ? (turns.clockHigh / turns.clockLow - 1) / kClockChange : 0;
    const double heat = turns.throttled > 0 ? 2 : 0;
    const double processes = crowding(turns, report.cores, report.neededCores);
    const double swap = static_cast<double>(turns.swappedBytes) / seconds / kSwapRate;
    const double storage = std::max(static_cast<double>(turns.readBytes) / seconds / kReadRate,
                                    static_cast<double>(turns.majorFaults) / seconds / kFaultRate);
    const double most = std::max({clock, heat, processes, swap, storage});
    if (most < 1)
        return std::nullopt;
    if (most == processes) {
        const CpuShare named = mostBusy(turns);
        return message<"experiment.noise.processes",
                       "Too noisy to decide: {process} used {used} of {cores} cores during the pairs.">(
            {{"process", named.name},
             {"used", named.cores, fmt::format("{:.1f}", named.cores)},
             {"cores", report.cores, fmt::format("{:.0f}", report.cores)},
             {"all_others", turns.otherCores, fmt::format("{:.1f}", turns.otherCores)}});
    }
    if (most == swap)
        return message<"experiment.noise.swap", "Too noisy to decide: the machine swapped {bytes} during the pairs.">(
            {{"bytes", turns.swappedBytes, bytesText(turns.swappedBytes)}});
    if (most == heat)
        return message<"experiment.noise.thermal",
                       "Too noisy to decide: the processor was throttled {count} times for its temperature.">(
            {{"count", turns.throttled}, {"celsius", turns.hottest, fmt::format("{:.0f} °C", turns.hottest)}});
    if (most == clock)
        return message<"experiment.noise.clock",
                       "Too noisy to decide: the processor's clock varied from {low} to {high} during the pairs.">(
            {{"low", turns.clockLow, fmt::format("{:.0f} MHz", turns.clockLow)},
             {"high", turns.clockHigh, fmt::format("{:.0f} MHz", turns.clockHigh)}});
    return message<
        "experiment.noise.page_cache",
        "Too noisy to decide: {bytes} had to be read from storage during the pairs, with {faults} major page faults.">(
        {{"bytes", turns.readBytes, bytesText(turns.readBytes)}, {"faults", turns.majorFaults}});
}

} // namespace

bool isDisturbed(const TurnConditions& turn, double cores, double needed)
{
    return crowding(turn, cores, needed) > 1 || hasSwapped(turn);
}

void add(NoiseReport& report, const TurnConditions& turn)
{
    accumulate(report.turns, turn);
}

void addDisturbed(NoiseReport& report, const TurnConditions& turn)
{
    accumulate(report.disturbed, turn);
    report.crowdedTurns += crowding(turn, report.cores, report.neededCores) > 1 ? 1 : 0;
    report.swappedTurns += hasSwapped(turn) ? 1 : 0;
}

Message noiseSource(const NoiseReport& report)
{
    if (auto source = sourceOf(report.turns, report))
        return std::move(*source);
    // Rare disturbances vanish in the mean of all turns, but they may be the reason if pairs that they affected count.
    if (report.disturbedPairs > 0)
        if (auto source = sourceOf(report.disturbed, report))
            return std::move(*source);
    return message<
        "experiment.noise.unknown",
        "Too noisy to decide: other processes, the clock, the page cache and swapping do not explain the noise.">();
}

profiler::MessageParameter disturbanceCause(const NoiseReport& report)
{
    std::string value, text;
    if (report.crowdedTurns > 0) {
        const CpuShare busiest = mostBusy(report.disturbed);
        value = "processes";
        text = fmt::format("{} used {:.1f} of {:.0f} cores", busiest.name, busiest.cores, report.cores);
    }
    if (report.swappedTurns > 0) {
        value += value.empty() ? "swapping" : " and swapping";
        text += fmt::format("{}the machine swapped {}", text.empty() ? "" : " and ",
                            bytesText(report.disturbed.swappedBytes));
    }
    profiler::MessageParameter cause("cause", text);
    cause.value = value;
    return cause;
}

} // namespace advisor
