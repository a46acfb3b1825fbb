#include <benchmark/benchmark.h>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <nvtx3/nvToolsExt.h>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>
#include <x86intrin.h>

/// The cost of NVTX push and pop with our handlers, compared with two reads of the time-stamp counter (the minimum for
/// a range) and with these reads plus a record of 32 bytes that two functions, called like an NVTX tool's, put into a
/// ring. Run it twice for the ratio to no tool: with the argument `none` no library is injected. With the path of
/// another build's library, that library is injected.
namespace {

void twoCounterReads(benchmark::State& state)
{
    for (auto _ : state) {
        benchmark::DoNotOptimize(__rdtsc());
        benchmark::DoNotOptimize(__rdtsc());
    }
}
BENCHMARK(twoCounterReads);

struct Floor {
    struct Record {
        std::uint64_t name, begin, end, other;
    };
    std::vector<Record> ring = std::vector<Record>(1 << 15);
    std::uint64_t written = 0;
};
Floor g_floor;

void twoCounterReadsAndARecord(benchmark::State& state)
{
    for (auto _ : state) {
        const std::uint64_t begin = __rdtsc();
        benchmark::ClobberMemory();
        g_floor.ring[g_floor.written++ % g_floor.ring.size()] = {1, begin, __rdtsc(), 2};
        benchmark::ClobberMemory();
    }
}
BENCHMARK(twoCounterReadsAndARecord);

std::uint64_t g_begin;
int beginFloor(const char*)
{
    g_begin = __rdtsc();
    return 0;
}
int endFloor()
{
    g_floor.ring[g_floor.written++ % g_floor.ring.size()] = {1, g_begin, __rdtsc(), 2};
    return 0;
}

void theSameByTwoCalls(benchmark::State& state)
{
    int (*volatile begin)(const char*) = beginFloor;
    int (*volatile end)() = endFloor;
    for (auto _ : state) {
        begin("forward");
        end();
    }
}
BENCHMARK(theSameByTwoCalls);

/// A rate at which the writer thread keeps up, so that no record is dropped: a drop would be cheaper.
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
