#include "profiler/capture/system_sampler.h"

#include "profiler/capture/nvml.h"
#include "profiler/model/nvml_values.h"
#include "profiler/os/files.h"
#include "profiler/os/machine.h"
#include "profiler/os/process.h"
#include "profiler/os/signals.h"

#include <charconv>
#include <condition_variable>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <utility>

namespace profiler::capture {

namespace {

double seconds(Nanoseconds duration)
{
    return static_cast<double>(duration.count()) / 1e9;
}

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

struct SystemSampler::State {
    State(Recorder& to, const SystemSamplerOptions& wanted) : recorder(to), options(wanted)
    {
        if (options.process == 0)
            options.process = os::processId();
    }

    void run();
    void record();
    void sample();
    void sampleCores(TraceTime now);
    void sampleProcess(TraceTime now);
    void sampleGpus(TraceTime now);
    void put(const std::string& counter, std::string_view unit, TraceTime now, double value);
    void putIf(const std::string& counter, std::string_view unit, TraceTime now, const std::optional<double>& value);

    Recorder& recorder;
    SystemSamplerOptions options;
    ThreadBuffer* buffer = nullptr; ///< buffer of the sampling thread
    std::optional<Nvml> nvml;
    std::vector<CoreTimes> cores;
    std::optional<std::pair<TraceTime, ProcessUse>> process;
    std::uint64_t samples = 0;

    std::mutex mutex;
    std::condition_variable wake;
    bool stopping = false;
    std::thread thread;
};

void SystemSampler::State::put(const std::string& counter, std::string_view unit, TraceTime now, double value)
{
    buffer->sample(recorder.addCounter(counter, unit), now, value);
}

void SystemSampler::State::putIf(const std::string& counter, std::string_view unit, TraceTime now,
                                 const std::optional<double>& value)
{
    if (value)
        put(counter, unit, now, *value);
}

void SystemSampler::State::sampleCores(TraceTime now)
{
    std::vector<CoreTimes> times = parseCoreTimes(readKernelFile("/proc/stat"));
    if (times.size() == cores.size())
        for (std::size_t i = 0; i < times.size(); ++i)
            putIf("core " + std::to_string(times[i].core) + " load", "share", now, coreLoad(cores[i], times[i]));
    cores = std::move(times); // if the number of cores has changed, the comparison restarts with the next sample
}

void SystemSampler::State::sampleProcess(TraceTime now)
{
    const auto use = readProcessUse(options.process);
    if (!use)
        return;
    put("memory resident", "bytes", now, static_cast<double>(use->residentBytes));
    if (process) {
        const double passed = seconds(now - process->first);
        const auto rate = [&](const char* counter, std::string_view unit, std::uint64_t ProcessUse::*field) {
            const std::uint64_t before = process->second.*field;
            if (passed > 0 && (*use).*field >= before)
                put(counter, unit, now, static_cast<double>((*use).*field - before) / passed);
        };
        rate("page faults", "1/s", &ProcessUse::minorFaults);
        rate("page faults from disk", "1/s", &ProcessUse::majorFaults);
        rate("voluntary context switches", "1/s", &ProcessUse::switchesWaiting);
        rate("involuntary context switches", "1/s", &ProcessUse::switchesForced);
        rate("disk read", "bytes/s", &ProcessUse::diskReadBytes);
    }
    process = {now, *use};
}

void SystemSampler::State::sampleGpus(TraceTime now)
{
    for (std::size_t i = 0; nvml && i < nvml->uuids().size(); ++i) {
        const std::string& uuid = nvml->uuids()[i];
        const auto device = recorder.deviceOf(uuid);
        // Use the trace's device number if CUDA has reported it; otherwise, trace merging can still match the UUID.
        const std::string gpu = device ? "GPU " + std::to_string(device->value) : uuid;
        const GpuState state = nvml->state(i);
        putIf(gpu + " utilisation", "share", now, state.utilization);
        putIf(gpu + " memory used", "bytes", now, state.memoryUsedBytes);
        putIf(gpu + " clock", "MHz", now, state.smClockMhz);
        putIf(gpu + " memory clock", "MHz", now, state.memoryClockMhz);
        putIf(gpu + " power", "W", now, state.powerWatts);
        putIf(gpu + " temperature", "°C", now, state.temperatureCelsius);
        if (state.throttling) {
            put(gpu + " throttled", "", now, throttle::text(*state.throttling).empty() ? 0 : 1);
            put(gpu + std::string(throttle::kCounter), "", now, static_cast<double>(*state.throttling));
        }
    }
}

void SystemSampler::State::sample()
{
    const TraceTime now = TraceClock::now();
    sampleCores(now);
    sampleProcess(now);
    sampleGpus(now);
    ++samples;
}

void SystemSampler::State::run()
{
    os::nameThread("system sampler");
    try {
        record();
    } catch (const std::bad_alloc&) {
        recorder.stopForLackOfMemory();
    }
}

void SystemSampler::State::record()
{
    buffer = &recorder.nameThisThread("system sampler", TrackKind::Thread);
    if (options.gpu) {
        if (auto opened = Nvml::open()) {
            nvml.emplace(std::move(*opened));
            if (!nvml->driverVersion().empty())
                recorder.setMetadata("versions.cuda_driver", nvml->driverVersion());
            for (std::size_t i = 0; i < nvml->uuids().size(); ++i)
                if (const auto link = nvml->link(i))
                    recorder.setMetadata(PcieLink::key(nvml->uuids()[i]), link->text());
        }
    }
    std::unique_lock lock(mutex);
    wake.wait_for(lock, options.within.begin - TraceClock::now(), [&] { return stopping; });
    const TraceTime began = TraceClock::now();
    do {
        lock.unlock();
        sample();
        lock.lock();
    } while (!wake.wait_for(lock, options.every, [&] { return stopping; }) && TraceClock::now() < options.within.end);
    lock.unlock();
    sample();
    const double passed = seconds(TraceClock::now() - began);
    recorder.setMetadata("sampler.samples", std::to_string(samples));
    recorder.setMetadata("sampler.cpu_share", std::to_string(passed > 0 ? seconds(os::threadCpuTime()) / passed : 0));
}

SystemSampler::SystemSampler() = default;

std::unique_ptr<SystemSampler> SystemSampler::start(Recorder& recorder, const SystemSamplerOptions& options)
{
    std::unique_ptr<SystemSampler> sampler(new SystemSampler);
    sampler->m = std::make_unique<State>(recorder, options);
    const os::BlockedSignals blocked; // signals are meant for the program's own threads
    sampler->m->thread = std::thread([state = sampler->m.get()] { state->run(); });
    return sampler;
}

SystemSampler::~SystemSampler()
{
    {
        const std::lock_guard lock(m->mutex);
        m->stopping = true;
    }
    m->wake.notify_all();
    m->thread.join();
}

} // namespace profiler::capture
