#include "profiler/capture/nvml.h"

#include "profiler/os/libraries.h"

#include <utility>

namespace profiler::capture {

namespace {

// From nvml.h. Every driver supports these functions and layouts; the header itself is not in any of our packages.
constexpr int kSuccess = 0;
constexpr unsigned kSmClock = 1, kMemoryClock = 2, kGpuTemperature = 0;
struct Utilization {
    unsigned gpu, memory;
};
struct Memory {
    unsigned long long total, free, used;
};

} // namespace

struct Nvml::Functions {
    os::Library library;
    int (*init)() = nullptr;
    int (*shutdown)() = nullptr;
    int (*count)(unsigned*) = nullptr;
    int (*handle)(unsigned, void**) = nullptr;
    int (*uuid)(void*, char*, unsigned) = nullptr;
    int (*driver)(char*, unsigned) = nullptr;
    int (*utilization)(void*, Utilization*) = nullptr;
    int (*memory)(void*, Memory*) = nullptr;
    int (*clock)(void*, unsigned, unsigned*) = nullptr;
    int (*power)(void*, unsigned*) = nullptr;
    int (*temperature)(void*, unsigned, unsigned*) = nullptr;
    int (*eventReasons)(void*, unsigned long long*) = nullptr;    ///< since driver 535
    int (*throttleReasons)(void*, unsigned long long*) = nullptr; ///< its older name
    int (*linkGeneration)(void*, unsigned*) = nullptr;
    int (*linkWidth)(void*, unsigned*) = nullptr;

    template <class Function>
    void get(Function*& to, const char* name)
    {
        to = library.function<Function>(name);
    }
    bool load()
    {
        library = os::Library::open("libnvidia-ml.so.1", os::Library::Binding::Lazy);
        if (!library)
            return false;
        get(init, "nvmlInit_v2");
        get(shutdown, "nvmlShutdown");
        get(count, "nvmlDeviceGetCount_v2");
        get(handle, "nvmlDeviceGetHandleByIndex_v2");
        get(uuid, "nvmlDeviceGetUUID");
        get(driver, "nvmlSystemGetDriverVersion");
        get(utilization, "nvmlDeviceGetUtilizationRates");
        get(memory, "nvmlDeviceGetMemoryInfo");
        get(clock, "nvmlDeviceGetClockInfo");
        get(power, "nvmlDeviceGetPowerUsage");
        get(temperature, "nvmlDeviceGetTemperature");
        get(eventReasons, "nvmlDeviceGetCurrentClocksEventReasons");
        get(throttleReasons, "nvmlDeviceGetCurrentClocksThrottleReasons");
        get(linkGeneration, "nvmlDeviceGetMaxPcieLinkGeneration");
        get(linkWidth, "nvmlDeviceGetCurrPcieLinkWidth");
        return init && shutdown && count && handle && uuid;
    }
};

Nvml::Nvml(Nvml&& other) noexcept = default;

Nvml::~Nvml()
{
    if (m && m->shutdown)
        m->shutdown();
}

Result<Nvml> Nvml::open()
{
    Nvml nvml;
    auto functions = std::make_unique<Functions>();
    if (!functions->load() || functions->init() != kSuccess)
        return fail<"nvml.no_driver", "GPU clocks and power are not recorded: no NVIDIA driver found">(
            Error::Code::Unavailable, "libnvidia-ml.so.1");
    nvml.m = std::move(functions);
    unsigned count = 0;
    if (nvml.m->count(&count) != kSuccess)
        count = 0;
    for (unsigned i = 0; i < count; ++i) {
        void* device = nullptr;
        char uuid[96] = {};
        if (nvml.m->handle(i, &device) != kSuccess || nvml.m->uuid(device, uuid, sizeof uuid - 1) != kSuccess)
            continue;
        nvml.m_devices.push_back(device);
        nvml.m_uuids.emplace_back(uuid);
    }
    if (char version[96] = {}; nvml.m->driver && nvml.m->driver(version, sizeof version - 1) == kSuccess)
        nvml.m_driver = version;
    if (nvml.m_devices.empty())
        return fail<"nvml.no_device", "GPU clocks and power are not recorded: no GPU can be queried">(
            Error::Code::Unavailable);
    return nvml;
}

GpuState Nvml::state(std::size_t index) const
{
    void* const device = m_devices.at(index);
    GpuState state;
    if (Utilization use{}; m->utilization && m->utilization(device, &use) == kSuccess)
        state.utilization = use.gpu / 100.0;
    if (Memory memory{}; m->memory && m->memory(device, &memory) == kSuccess)
        state.memoryUsedBytes = static_cast<double>(memory.used);
    unsigned value = 0;
    if (m->clock && m->clock(device, kSmClock, &value) == kSuccess)
        state.smClockMhz = value;
    if (m->clock && m->clock(device, kMemoryClock, &value) == kSuccess)
        state.memoryClockMhz = value;
    if (m->power && m->power(device, &value) == kSuccess)
        state.powerWatts = value / 1e3;
    if (m->temperature && m->temperature(device, kGpuTemperature, &value) == kSuccess)
        state.temperatureCelsius = value;
    for (const auto reasons : {m->eventReasons, m->throttleReasons})
        if (unsigned long long bits = 0; !state.throttling && reasons && reasons(device, &bits) == kSuccess)
            state.throttling = bits;
    return state;
}

std::optional<PcieLink> Nvml::link(std::size_t index) const
{
    void* const device = m_devices.at(index);
    unsigned generation = 0, width = 0;
    if (!m->linkGeneration || m->linkGeneration(device, &generation) != kSuccess || !m->linkWidth ||
        m->linkWidth(device, &width) != kSuccess)
        return std::nullopt;
    return PcieLink::of(generation, width);
}

} // namespace profiler::capture
