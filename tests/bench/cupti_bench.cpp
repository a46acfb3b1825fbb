#include "profiler/capture/cupti/decode.h"
#include "profiler/capture/cupti/delivery.h"
#include "profiler/capture/cupti/source.h"
#include "tests/capture/cupti_buffer.h"

#include <benchmark/benchmark.h>
#include <filesystem>
#include <string>
#include <unistd.h>

using namespace profiler;
using namespace profiler::capture;

namespace {

/// Launches and kernels of a typical training in one buffer of 256 KiB.
capture_test::CuptiBuffer fullBuffer()
{
    static const char* const kNames[] = {"_ZN2at6native18elementwise_kernelILi128ELi4EZNS0_EEEviT1_",
                                         "sm80_xmma_fprop_implicit_gemm", "_Z9my_kernelIfEvPT_",
                                         "cudnn_bn_fw_tr_1C11_kernel_NCHW"};
    capture_test::CuptiBuffer buffer;
    for (std::uint32_t i = 1; buffer.size() + sizeof(CUpti_ActivityKernel10) + sizeof(CUpti_ActivityAPI) <= 256 << 10;
         ++i) {
        auto& call = buffer.timed<CUpti_ActivityAPI>(CUPTI_ACTIVITY_KIND_RUNTIME, i * 10, i * 10 + 5, i);
        call.cbid = CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000;
        auto& kernel =
            buffer.timed<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, i * 10, i * 10 + 9, i);
        kernel.name = kNames[i % 4];
        kernel.streamId = 7;
    }
    return buffer;
}

void decode(benchmark::State& state)
{
    auto buffer = fullBuffer();
    CuptiDecoder decoder(systemCupti(), [](std::string_view) { return 1; });
    std::size_t records = 0;
    for (auto _ : state) {
        const CuptiRecords found = decoder.decode(buffer.data(), buffer.size());
        records += found.work.size() + found.host.size();
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(records));
}
BENCHMARK(decode)->Unit(benchmark::kMicrosecond);

void decodeAndDeliver(benchmark::State& state)
{
    const auto path = std::filesystem::temp_directory_path() / ("cupti_bench." + std::to_string(getpid()) + ".sstrace");
    auto recorder = Recorder::start({.path = path});
    if (!recorder)
        return state.SkipWithError("no recorder");
    auto buffer = fullBuffer();
    CuptiDecoder decoder(systemCupti(), [&](std::string_view text) { return (*recorder)->intern(text); });
    CuptiDelivery delivery(**recorder);
    std::size_t records = 0;
    for (auto _ : state) {
        const CuptiRecords found = decoder.decode(buffer.data(), buffer.size());
        records += found.work.size() + found.host.size();
        delivery.deliver(found);
        state.PauseTiming();
        if (!(*recorder)->flush())
            return state.SkipWithError("the trace cannot be written");
        state.ResumeTiming();
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(records));
    recorder->reset();
    std::filesystem::remove(path);
}
BENCHMARK(decodeAndDeliver)->Iterations(300)->Unit(benchmark::kMicrosecond);

} // namespace
