#include "tests/advisor/rules_fixtures.h"

#include <fmt/format.h>

namespace advisor_test {
namespace {

using advisor::State;

/// Ten steps of 1,000 µs on a GPU, each with `host` on the main thread and `device` on stream 7.
std::string steps(std::string_view host, std::string_view device, std::string_view head = "device 0 \"NVIDIA H100\" \"\" sm=90")
{
    return fmt::format(R"(
        {2}
        main
          repeat 10 every 1000
            step 0 0 1000
            {0}
          end
        stream 0 7
          repeat 10 every 1000
            {1}
          end
    )",
                       host, device, head);
}

constexpr std::string_view kOnTheCpu = "main\nrepeat 10 every 1000\nstep 0 0 1000\nop aten::mm 0 900\nend\n";
constexpr std::string_view kHostOnly = "main\nrepeat 10 every 1000\nstep 0 0 1000\nend\n";

std::string copies(double us, std::string_view from, std::string_view more = "")
{
    return steps("call cudaMemcpyAsync 0 60 corr=5\ncall cudaStreamSynchronize 61 40",
                 fmt::format("copy HtoD 0 {} bytes=1000000 src={} dst=device corr=5\n{}\nkernel sgemm 500 400", us, from, more));
}

/// A pair of matmuls with `between` in between.
std::string products(std::string_view between)
{
    return steps("op aten::forward 0 900", fmt::format("kernel volta_sgemm_nt 0 300\n{}\nkernel volta_sgemm_nt 600 300", between));
}

/// `count` kernels of 4 µs, each launched 40 µs after the one before.
std::string manyLaunches(int count, double kernelUs = 4)
{
    std::string host, device;
    for (int i = 0; i < count; ++i) {
        host += fmt::format("op aten::add {} 38\ncall cudaLaunchKernel {} 6\n", i * 40, i * 40 + 20);
        device += fmt::format("kernel vectorized_elementwise_kernel {} {}\n", i * 40 + 30, kernelUs);
    }
    return steps(host, device);
}

std::string convolution(std::string_view bias, std::string_view behind)
{
    return fmt::format("main\nop aten::conv2d 0 100 shapes=\"[[32, 3, 8, 8], [64, 3, 7, 7], {}]\"\nop {} 101 50\n", bias, behind);
}

/// Steps whose optimizer runs `count` operators named `op` in 100 of 1,000 µs.
std::string optimizer(int count, std::string_view op)
{
    std::string ops;
    for (int i = 0; i < count; ++i)
        ops += fmt::format("op {} {} 1\n", op, 900 + i);
    return fmt::format("main\nrepeat 10 every 1000\nstep 0 0 1000\nphase optimizer 900 100\n{}end\n", ops);
}

/// Consecutive steps of the given durations (in tens of µs).
std::string unevenSteps(const std::vector<int>& durations)
{
    std::string text = "main\n";
    int at = 0, index = 0;
    for (const int tens : durations) {
        const int duration = 10 * tens;
        text += fmt::format("step {} {} {}\nphase \"data wait\" {} {}\n", index++, at, duration, at, duration / 2);
        at += duration;
    }
    return text;
}

/// The same steps while threads were preempted this many times per second.
std::string interrupted(double rate)
{
    return unevenSteps({100, 100, 102, 101, 160, 100, 180, 100, 100, 170}) +
           fmt::format("counter \"switches, forced\"\nsample 3000 {0}\nsample 6000 {0}\n", rate);
}

std::string communication(double us)
{
    return steps("call cudaLaunchKernel 0 5", fmt::format("kernel sgemm 0 500\nkernel ncclDevKernel_AllReduce_Sum_f32 500 {}", us));
}

/// Two epochs of 20 steps of 100 µs; workers start at the beginning of each, and the step waits for the first batch.
std::string epochs(double startUs)
{
    return fmt::format(R"(
        main
          repeat 2 every 4000
            phase "start workers" 0 {0}
          end
          repeat 20 every 100
            step 0 1000 100
            phase "data wait" 1000 5
          end
          repeat 20 every 100
            step 20 5000 100
            phase "data wait" 5000 5
          end
    )",
                       startUs);
}

/// The same with one worker, which begins with its first batch `idleUs` after each start and loads it for 500 µs.
std::string epochsOf(double idleUs)
{
    return epochs(20) + fmt::format(R"(
        main
          phase "data wait" 4020 {1}
        worker 0
          repeat 2 every 4000
            stage decode {0} 500
          end
    )",
                                    idleUs, idleUs + 480);
}

std::vector<Fixture> copyFixtures()
{
    return {
        {"loader_pin_memory_fires", "loader_pin_memory", State::Fires, copies(100, "pageable"), true, {}},
        {"loader_pin_memory_silent", "loader_pin_memory", State::Silent, copies(100, "pinned"), true, {}},
        {"loader_pin_memory_cannot_tell", "loader_pin_memory", State::CannotTell, steps("", "copy HtoD 0 100 bytes=9\nkernel a 200 300"),
         true, {}},
        {"transfer_non_blocking_fires", "transfer_non_blocking", State::Fires, copies(100, "pinned"), true, {}},
        {"transfer_non_blocking_silent", "transfer_non_blocking", State::Silent, copies(100, "pinned", "kernel sgemm 0 110"), true, {}},
        {"transfer_non_blocking_fires_without_steps", "transfer_non_blocking", State::Fires,
         "main\ncall cudaMemcpy 19 102 corr=5\nstream 0 7\nkernel a 0 10\ncopy HtoD 20 100 bytes=1000 src=pinned dst=device corr=5\n"
         "kernel a 200 300", true, {}},
        {"transfer_non_blocking_silent_without_steps", "transfer_non_blocking", State::Silent,
         "main\ncall cudaMemcpy 19 12 corr=5\nstream 0 7\nkernel a 0 10\ncopy HtoD 20 10 bytes=1000 src=pinned dst=device corr=5\n"
         "kernel a 200 300", true, {}},
        {"transfer_non_blocking_cannot_tell", "transfer_non_blocking", State::CannotTell, std::string(kHostOnly), false,
         {"device=cuda"}},
    };
}

std::vector<Fixture> kernelFixtures()
{
    const std::string oldGpu = steps("", "kernel volta_sgemm_nt 0 900", "device 0 \"Tesla V100\" \"\" sm=70");
    const std::string softmax = "kernel softmax_warp_forward 300 100";
    return {
        {"precision_tf32_fires", "precision_tf32", State::Fires, products(""), true, {}},
        {"precision_tf32_silent", "precision_tf32", State::Silent, oldGpu, true, {}},
        {"precision_tf32_cannot_tell", "precision_tf32", State::CannotTell, steps("", "kernel magma_sgemmEx_kernel 0 900", ""), true, {}},
        {"fuse_pointwise_fires", "fuse_pointwise", State::Fires,
         steps("", "kernel elementwise_kernel_a 0 200\nkernel elementwise_kernel_b 200 100\nkernel sgemm 300 500"), true, {}},
        {"fuse_pointwise_silent", "fuse_pointwise", State::Silent,
         steps("", "kernel elementwise_kernel_a 0 50\nkernel elementwise_kernel_b 50 50\nkernel sgemm 300 500"), true, {}},
        {"fuse_pointwise_cannot_tell", "fuse_pointwise", State::CannotTell, std::string(kHostOnly), false, {"device=cuda"}},
        {"attention_fires", "attention", State::Fires, products(softmax), true, {}},
        {"attention_silent", "attention", State::Silent, products("kernel elementwise 300 100"), true, {}},
        {"attention_cannot_tell", "attention", State::CannotTell, std::string(kHostOnly), true, {}},
        {"gemm_dimensions_fires", "gemm_dimensions", State::Fires,
         steps("op aten::mm 0 50 shapes=\"[[64, 100], [100, 33]]\" types=\"[c10::Half, c10::Half]\"\ncall cudaLaunchKernel 5 5 corr=1",
               "kernel ampere_fp16_s16816gemm_fp16 20 900 corr=1"), true, {}},
        {"gemm_dimensions_silent", "gemm_dimensions", State::Silent,
         steps("op aten::mm 0 50 shapes=\"[[64, 104], [104, 32]]\" types=\"[c10::Half, c10::Half]\"\ncall cudaLaunchKernel 5 5 corr=1",
               "kernel ampere_fp16_s16816gemm_fp16 20 900 corr=1"), true, {}},
        {"gemm_dimensions_cannot_tell", "gemm_dimensions", State::CannotTell, products(""), true, {}},
        {"cudnn_benchmark_fires", "cudnn_benchmark", State::Fires, steps("", "kernel volta_scudnn_128x64 0 900"), false,
         {"device=cuda", "cudnn.benchmark=false"}},
        {"cudnn_benchmark_silent", "cudnn_benchmark", State::Silent, products(""), true, {}},
        {"cudnn_benchmark_cannot_tell", "cudnn_benchmark", State::CannotTell, steps("", "kernel volta_scudnn_128x64 0 900"), true, {}},
    };
}

std::vector<Fixture> hostFixtures()
{
    return {
        {"compile_fires", "compile", State::Fires, manyLaunches(20), true, {}},
        {"compile_silent", "compile", State::Silent, manyLaunches(20, 30), true, {}},
        {"compile_cannot_tell", "compile", State::CannotTell, std::string(kHostOnly), false, {"device=cuda"}},
        {"host_bound_fires", "host_bound", State::Fires, manyLaunches(20), true, {}},
        {"host_bound_silent", "host_bound", State::Silent, std::string(kOnTheCpu), true, {}},
        {"host_bound_cannot_tell", "host_bound", State::CannotTell, steps("", "kernel a 0 300"), true, {}},
        {"host_lazy_loading_fires", "host_lazy_loading", State::Fires,
         steps("driver cuModuleLoadData 100 400\ncall cudaLaunchKernel 510 5 corr=1", "kernel sgemm 520 300 corr=1"), true, {}},
        {"host_lazy_loading_silent", "host_lazy_loading", State::Silent,
         steps("driver cuModuleLoadData 100 400\ncall cudaLaunchKernel 510 5 corr=1", "kernel sgemm 20 900 corr=1"), true, {}},
        {"host_lazy_loading_cannot_tell", "host_lazy_loading", State::CannotTell, steps("", "kernel a 0 300"), true, {}},
        {"host_python_fires", "host_python", State::Fires, sampledProgram(400), true, {}},
        {"host_python_silent", "host_python", State::Silent, sampledProgram(40), true, {}},
        {"host_python_cannot_tell", "host_python", State::CannotTell, std::string(kHostOnly), true, {}},
        {"optimizer_fused_fires", "optimizer_fused", State::Fires, optimizer(60, "aten::add_"), true, {}},
        {"optimizer_fused_silent", "optimizer_fused", State::Silent, optimizer(60, "aten::_foreach_add_"), true, {}},
        {"optimizer_fused_cannot_tell", "optimizer_fused", State::CannotTell, std::string(kHostOnly), true, {}},
    };
}

/// Steps that wait 400 of 1,000 µs for batches, with augmentation as the given share of the loading time.
std::string augmenting(double share)
{
    return fmt::format(R"(
        device 0 gpu
        main
          repeat 10 every 1000
            step 0 0 1000
            phase "data wait" 0 400
            stage decode 0 {}
            stage augment {} {}
          end
        stream 0 7
          repeat 10 every 1000
            kernel sgemm 400 600
          end
    )",
                       400 * (1 - share), 400 * (1 - share), 400 * share);
}

/// A tensor created by `op` on the host, then moved to the device.
std::string madeOnTheHost(std::string_view op)
{
    return steps(fmt::format("op {} 0 100\nop aten::to 110 100\ncall cudaMemcpyAsync 120 50 corr=7", op),
                 "copy HtoD 130 30 bytes=4096 src=pageable dst=device corr=7\nkernel sgemm 300 500");
}

std::string exchanges(int count)
{
    std::string kernels = "kernel sgemm 0 500\n";
    for (int i = 0; i < count; ++i)
        kernels += fmt::format("kernel ncclDevKernel_AllReduce_Sum_f32 {} 4\n", 500 + 5 * i);
    return steps("call cudaLaunchKernel 0 5\nphase backward 100 300", kernels);
}

/// Ten steps of two devices that wait for each other: the second computes until 850 of 1,000 µs, the first until `us`.
std::string twoRanks(int us)
{
    return steps("", fmt::format("kernel sgemm 0 {}\nkernel ncclDevKernel_AllReduce {} {}", us, us, 900 - us)) +
           "stream 1 7\nrepeat 10 every 1000\nkernel sgemm 0 850\nkernel ncclDevKernel_AllReduce 850 50\nend\n";
}

std::vector<Fixture> moreFixtures()
{
    const std::string run = "main\nrepeat 5 every 100\nstep 0 0 100\nend";
    return {
        {"augment_device_fires", "augment_device", State::Fires, augmenting(0.6), true, {}},
        {"augment_device_silent", "augment_device", State::Silent, augmenting(0.1), true, {}},
        {"augment_device_cannot_tell", "augment_device", State::CannotTell, std::string(kHostOnly), false, {"device=cuda"}},
        {"tensors_create_on_device_fires", "tensors_create_on_device", State::Fires, madeOnTheHost("aten::randn"), true, {}},
        {"tensors_create_on_device_silent", "tensors_create_on_device", State::Silent, madeOnTheHost("aten::stack"), true, {}},
        {"tensors_create_on_device_cannot_tell", "tensors_create_on_device", State::CannotTell, copies(100, "pageable"), true, {}},
        {"comm_buckets_fires", "comm_buckets", State::Fires, exchanges(60), true, {}},
        {"comm_buckets_silent", "comm_buckets", State::Silent, exchanges(10), true, {}},
        {"comm_buckets_cannot_tell", "comm_buckets", State::CannotTell, "stream 0 7\nkernel ncclDevKernel_AllReduce 0 10", true, {}},
        {"debug_autograd_profiler_fires", "debug_autograd_profiler", State::Fires, run, false, {"debug.autograd_profiler=true"}},
        {"debug_autograd_profiler_silent", "debug_autograd_profiler", State::Silent, run, false, {}},
        {"debug_autograd_profiler_cannot_tell", "debug_autograd_profiler", State::CannotTell, run, true, {}},
        {"debug_gradcheck_fires", "debug_gradcheck", State::Fires, run, false, {"debug.gradcheck=true"}},
        {"debug_gradcheck_silent", "debug_gradcheck", State::Silent, run, false, {}},
        {"debug_gradcheck_cannot_tell", "debug_gradcheck", State::CannotTell, run, true, {}},
        {"debug_gradgradcheck_fires", "debug_gradgradcheck", State::Fires, run, false, {"debug.gradgradcheck=true"}},
        {"debug_gradgradcheck_silent", "debug_gradgradcheck", State::Silent, run, false, {}},
        {"debug_gradgradcheck_cannot_tell", "debug_gradgradcheck", State::CannotTell, run, true, {}},
    };
}

std::vector<Fixture> runFixtures()
{
    return {
        {"model_conv_bias_fires", "model_conv_bias", State::Fires, convolution("[64]", "aten::batch_norm"), true, {}},
        {"model_conv_bias_fires_in_training", "model_conv_bias", State::Fires,
         convolution("[64]", "aten::add_ 100 1 shapes=\"[[], [], []]\"\nop aten::batch_norm"), true, {}},
        {"model_conv_bias_silent_behind_a_sum", "model_conv_bias", State::Silent,
         convolution("[64]", "aten::add_ 100 1 shapes=\"[[32, 64, 8, 8], [32, 64, 8, 8], []]\"\nop aten::batch_norm"), true, {}},
        {"model_conv_bias_silent", "model_conv_bias", State::Silent, convolution("[]", "aten::batch_norm"), true, {}},
        {"model_conv_bias_cannot_tell", "model_conv_bias", State::CannotTell, "main\nop aten::conv2d 0 100", true, {}},
        {"warmup_fires", "warmup", State::Fires,
         "device 0 gpu\nmain\nrepeat 10 every 1000\nstep 0 0 1000\nend\ndriver cuModuleLoadData 0 600\nstream 0 7\n"
         "repeat 10 every 1000\nkernel a 100 800\nend\n",
         true, {}},
        {"warmup_silent", "warmup", State::Silent, steps("op aten::add 0 60", "kernel a 100 800"), true, {}},
        {"warmup_cannot_tell", "warmup", State::CannotTell, "main\nannotation nothing 0 9", true, {}},
        {"step_variance_fires", "step_variance", State::Fires, unevenSteps({100, 100, 102, 101, 160, 100, 180, 100, 100, 170}), true, {}},
        {"step_variance_silent", "step_variance", State::Silent, unevenSteps({100, 101, 102, 101, 103, 100, 104, 100}), true, {}},
        {"step_variance_fires_with_few_interruptions", "step_variance", State::Fires, interrupted(60), true, {}},
        {"step_variance_cannot_tell_where_threads_lose_their_cores", "step_variance", State::CannotTell, interrupted(65), true, {}},
        {"step_variance_silent_on_what_an_interrupt_takes", "step_variance", State::Silent,
         unevenSteps({50, 51, 50, 52, 70, 50, 72, 51, 50, 71}), true, {}},
        {"step_variance_cannot_tell", "step_variance", State::CannotTell, unevenSteps({100, 100, 100}), true, {}},
        {"comm_stragglers_fires", "comm_stragglers", State::Fires, twoRanks(400), true, {}},
        {"comm_stragglers_silent", "comm_stragglers", State::Silent, twoRanks(850), true, {}},
        {"comm_stragglers_cannot_tell", "comm_stragglers", State::CannotTell, communication(200), true, {}},
        {"comm_exposed_fires", "comm_exposed", State::Fires, communication(200), true, {}},
        {"comm_exposed_silent", "comm_exposed", State::Silent, communication(50), true, {}},
        {"comm_exposed_cannot_tell", "comm_exposed", State::CannotTell, std::string(kHostOnly), false, {"device=cuda"}},
        {"loader_persistent_workers_fires", "loader_persistent_workers", State::Fires, epochs(400), true, {}},
        {"loader_persistent_workers_silent", "loader_persistent_workers", State::Silent, epochs(10), true, {}},
        {"loader_persistent_workers_fires_where_workers_begin_late", "loader_persistent_workers", State::Fires, epochsOf(200), true, {}},
        {"loader_persistent_workers_silent_where_the_first_batch_takes_long", "loader_persistent_workers", State::Silent, epochsOf(25), true, {}},
        {"loader_persistent_workers_silent_where_they_persist", "loader_persistent_workers", State::Silent, "meta loader.persistent_workers true\n" + epochs(400), true, {}},
        {"loader_persistent_workers_cannot_tell", "loader_persistent_workers", State::CannotTell, std::string(kHostOnly), true, {}},
        {"parallel_kind_fires", "parallel_kind", State::Fires,
         "main\nrepeat 5 every 100\nannotation DataParallel.forward 0 50\nop Broadcast 1 10\nend", true, {}},
        {"parallel_kind_silent", "parallel_kind", State::Silent, "main\nannotation DistributedDataParallel.forward 0 50", true, {}},
        {"parallel_kind_cannot_tell", "parallel_kind", State::CannotTell, std::string(kHostOnly), true, {}},
        {"debug_emit_nvtx_fires", "debug_emit_nvtx", State::Fires, "main\nnvtx \"aten::conv2d, seq = 12\" 0 10", false,
         {"debug.emit_nvtx=true"}},
        {"debug_emit_nvtx_silent_where_a_profiler_read_the_ranges", "debug_emit_nvtx", State::Silent,
         "main\nnvtx \"aten::conv2d, seq = 12\" 0 10", true, {}},
        {"debug_emit_nvtx_silent", "debug_emit_nvtx", State::Silent, "main\nnvtx forward 0 10", true, {}},
        {"debug_emit_nvtx_cannot_tell", "debug_emit_nvtx", State::CannotTell, std::string(kHostOnly), true, {}},
    };
}

} // namespace

std::vector<Fixture> deviceFixtures()
{
    std::vector<Fixture> rows;
    for (const auto& more : {copyFixtures(), kernelFixtures(), hostFixtures(), runFixtures(), moreFixtures()})
        rows.insert(rows.end(), more.begin(), more.end());
    return rows;
}

} // namespace advisor_test
