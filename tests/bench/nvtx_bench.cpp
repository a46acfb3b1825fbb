#include <benchmark/benchmark.h>
#include <cstdlib>
#include <filesystem>
#include <nvtx3/nvToolsExt.h>
#include <string>
#include <thread>
#include <unistd.h>
#include <x86intrin.h>

/// What NVTX push and pop cost with our handlers, beside two reads of the time-stamp counter, which is what a range
/// cannot cost less than. Run twice for the ratio against no tool: with the argument `none` no library is injected.
/// With the path of another build's library, that one is.
namespace {

void twoCounterReads(benchmark::State& state)
{
    for (auto _ : state) {
        benchmark::DoNotOptimize(__rdtsc());
        benchmark::DoNotOptimize(__rdtsc());
    }
}
BENCHMARK(twoCounterReads);

/// Below the rate at which the writer thread keeps up, so that no record is dropped: that would be cheaper.
void pushPop(benchmark::State& state)
{
    int ranges = 0;
    for (auto _ : state) {
        nvtxRangePushA("forward");
        nvtxRangePop();
        if (++ranges % 16'384 == 0) {
            state.PauseTiming();
            std::this_thread::sleep_for(std::chrono::milliseconds(120));
            state.ResumeTiming();
        }
    }
}
BENCHMARK(pushPop)->Iterations(300'000);

void pushPopRegistered(benchmark::State& state)
{
    const nvtxDomainHandle_t domain = nvtxDomainCreateA("bench");
    nvtxEventAttributes_t event{};
    event.version = NVTX_VERSION;
    event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    event.message.registered = nvtxDomainRegisterStringA(domain, "backward");
    int ranges = 0;
    for (auto _ : state) {
        nvtxDomainRangePushEx(domain, &event);
        nvtxDomainRangePop(domain);
        if (++ranges % 16'384 == 0) {
            state.PauseTiming();
            std::this_thread::sleep_for(std::chrono::milliseconds(120));
            state.ResumeTiming();
        }
    }
}
BENCHMARK(pushPopRegistered)->Iterations(300'000);

} // namespace

int main(int count, char** arguments)
{
    const std::string given = count > 1 && arguments[1][0] != '-' ? arguments[1] : "";
    const bool none = given == "none";
    const auto trace = std::filesystem::temp_directory_path() / ("nvtx_bench." + std::to_string(getpid()));
    if (none) {
        unsetenv("NVTX_INJECTION64_PATH");
    } else {
        setenv("NVTX_INJECTION64_PATH", given.empty() ? INJECTION_LIBRARY : given.c_str(), 1);
        setenv("STEPSCOPE_RECORD", trace.c_str(), 1);
    }
    benchmark::Initialize(&count, arguments);
    benchmark::RunSpecifiedBenchmarks();
    std::filesystem::remove(trace.string() + "." + std::to_string(getpid()));
    return 0;
}
