#include "profiler/capture/system_sampler.h"

#include "profiler/capture/nvml.h"
#include "profiler/capture/system_load.h"
#include "profiler/model/throttle_reasons.h"
#include "profiler/os/clocks.h"
#include "profiler/os/process.h"
#include "profiler/os/signals.h"
#include "profiler/os/threads.h"

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

} // namespace

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
