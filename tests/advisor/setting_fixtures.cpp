#include "tests/advisor/rules_fixtures.h"

#include <fmt/format.h>

namespace advisor_test {
namespace {

using advisor::State;

constexpr std::string_view kSteps = "main\nrepeat 10 every 1000\nstep 0 0 1000\nend\n";

/// Steps that write their log for `us`, with eight cores of which training uses one.
std::string logging(double us)
{
    return fmt::format(
        "meta host.cores 8\nmeta host.threads 1\nmain\nrepeat 10 every 1000\nstep 0 0 1000\nphase log 900 {}\nend\n",
        us);
}

/// Steps whose batch is cloned for `us`.
std::string cloning(double us)
{
    return fmt::format("main\nrepeat 10 every 1000\nstep 0 0 1000\nphase copy 0 {}\nop aten::clone 1 {}\nend\n", us + 2,
                       us);
}

/// Steps of which the optimizer takes `us`.
std::string optimizing(double us)
{
    return fmt::format("main\nrepeat 10 every 1000\nstep 0 0 1000\nphase optimizer 0 {}\nend\n", us);
}

/// A run on the CPU whose memory use rises to `mebibytes`.
std::string filling(int mebibytes)
{
    return fmt::format("{}counter memory\nsample 0 1000\nsample 5000 {}\n", kSteps, std::int64_t{mebibytes} << 20);
}

/// Steps, each of which keeps this many bytes allocated.
std::string growing(std::int64_t bytes)
{
    std::string text = std::string(kSteps) + "counter \"GPU 0 memory allocated\"\n";
    for (int i = 0; i < 10; ++i)
        text += fmt::format("sample {} {}\n", i * 1000, 1'000'000 + bytes * i);
    return text;
}

/// A loss that falls from 2 to `early` within 30 steps, stays there until step 350 of 450, and then is `late`, with
/// some noise; with `spikes` values of 9 from step 300 on.
std::string losses(double early, double late, int spikes = 0)
{
    std::string text = std::string(kSteps) + "counter loss\n";
    for (int i = 0; i < 450; ++i) {
        const double noise = i % 3 == 0 ? 0.01 : -0.005;
        const double level = i < 30 ? early + (2 - early) * (30 - i) / 30 : i < 350 ? early : late;
        text += fmt::format("sample {} {}\n", i * 20, i >= 300 && i < 300 + spikes ? 9 : level + noise);
    }
    return text;
}

/// A device with 100 bytes, of which this many are in use.
std::string onADevice(int bytes)
{
    return fmt::format(R"(
        device 0 gpu memory=100
        main
          repeat 10 every 1000
            step 0 0 1000
          end
        stream 0 7
          kernel a 0 100
        counter "GPU 0 memory reserved"
          sample 0 {}
    )",
                       bytes);
}

/// A busy GPU, with what its driver reports about its clocks in the second of two samples.
std::string throttled(unsigned reasons)
{
    return fmt::format("device 0 gpu\nmain\nstep 0 0 1000\nstream 0 7\nkernel a 0 500\n"
                       "counter \"GPU 0 throttle reasons\"\nsample 0 0\nsample 500 {}\n",
                       reasons);
}

std::vector<Fixture> convergenceFixtures()
{
    const std::string run(kSteps);
    return {
        {"data_normalize_fires", "data_normalize", State::Fires, run, false, {"data.normalize=false"}},
        {"data_normalize_silent", "data_normalize", State::Silent, run, false, {}},
        {"data_normalize_cannot_tell", "data_normalize", State::CannotTell, run, true, {}},
        {"model_norm_fires", "model_norm", State::Fires, run, false, {"model.norm=none"}},
        {"model_norm_fires_on_small_batches", "model_norm", State::Fires, run, false, {"batch.size=4"}},
        {"model_norm_silent", "model_norm", State::Silent, run, false, {}},
        {"model_norm_cannot_tell", "model_norm", State::CannotTell, run, true, {}},
        {"optimizer_lr_scaling_fires", "optimizer_lr_scaling", State::Fires, run, false, {"batch.size=64"}},
        {"optimizer_lr_scaling_silent", "optimizer_lr_scaling", State::Silent, run, false, {"batch.size=63"}},
        {"optimizer_lr_scaling_cannot_tell", "optimizer_lr_scaling", State::CannotTell, run, true, {}},
        {"optimizer_weight_decay_fires",
         "optimizer_weight_decay",
         State::Fires,
         run,
         false,
         {"optimizer.weight_decay=0"}},
        {"optimizer_weight_decay_fires_on_a_grown_batch",
         "optimizer_weight_decay",
         State::Fires,
         run,
         false,
         {"batch.size=128"}},
        {"optimizer_weight_decay_silent", "optimizer_weight_decay", State::Silent, run, false, {}},
        {"optimizer_weight_decay_cannot_tell", "optimizer_weight_decay", State::CannotTell, run, true, {}},
        {"optimizer_kind_fires", "optimizer_kind", State::Fires, run, false, {"optimizer.kind=adam"}},
        {"optimizer_kind_fires_on_a_huge_batch",
         "optimizer_kind",
         State::Fires,
         run,
         false,
         {"batch.size=1024", "gradient.accumulation=9"}},
        {"optimizer_kind_silent",
         "optimizer_kind",
         State::Silent,
         run,
         false,
         {"batch.size=1024", "gradient.accumulation=8"}},
        {"optimizer_kind_cannot_tell", "optimizer_kind", State::CannotTell, run, true, {}},
        {"schedule_kind_fires", "schedule_kind", State::Fires, losses(1, 1), false, {}},
        {"schedule_kind_cannot_tell_of_what_never_learnt", "schedule_kind", State::CannotTell, losses(2, 2), false, {}},
        {"schedule_kind_silent", "schedule_kind", State::Silent, losses(1, 0.8), false, {}},
        {"schedule_kind_cannot_tell", "schedule_kind", State::CannotTell, run, false, {}},
        {"gradient_clip_norm_fires", "gradient_clip_norm", State::Fires, losses(1, 1, 5), false, {}},
        {"gradient_clip_norm_silent", "gradient_clip_norm", State::Silent, losses(1, 1), false, {}},
        {"gradient_clip_norm_silent_on_hard_batches", "gradient_clip_norm", State::Silent, losses(1, 1, 2), false, {}},
        {"gradient_clip_norm_cannot_tell", "gradient_clip_norm", State::CannotTell, run, false, {}},
        {"gradient_clip_value_fires",
         "gradient_clip_value",
         State::Fires,
         losses(1, 1, 5),
         false,
         {"gradient.clip_norm=1"}},
        {"gradient_clip_value_silent", "gradient_clip_value", State::Silent, losses(1, 1, 5), false, {}},
        {"gradient_clip_value_cannot_tell", "gradient_clip_value", State::CannotTell, run, false, {}},
    };
}

std::vector<Fixture> memoryFixtures()
{
    const std::string run(kSteps);
    return {
        {"gradient_accumulation_fires",
         "gradient_accumulation",
         State::Fires,
         filling(95),
         false,
         {"batch.memory_limit=100"}},
        {"gradient_accumulation_silent",
         "gradient_accumulation",
         State::Silent,
         filling(80),
         false,
         {"batch.memory_limit=100"}},
        {"gradient_accumulation_silent_for_one_sample",
         "gradient_accumulation",
         State::Silent,
         filling(95),
         false,
         {"batch.memory_limit=100", "batch.size=1"}},
        {"gradient_accumulation_cannot_tell", "gradient_accumulation", State::CannotTell, filling(95), false, {}},
        {"checkpointing_fires", "checkpointing", State::Fires, filling(95), false, {"batch.memory_limit=100"}},
        {"checkpointing_silent", "checkpointing", State::Silent, filling(85), false, {"batch.memory_limit=100"}},
        {"checkpointing_cannot_tell", "checkpointing", State::CannotTell, run, true, {}},
        {"memory_growth_fires", "memory_growth", State::Fires, growing(1'000'000), true, {}},
        {"memory_growth_silent", "memory_growth", State::Silent, growing(0), true, {}},
        {"memory_growth_cannot_tell", "memory_growth", State::CannotTell, run, true, {}},
        {"memory_pressure_silent", "memory_pressure", State::Silent, filling(80), false, {"batch.memory_limit=100"}},
        {"memory_pressure_fires", "memory_pressure", State::Fires, onADevice(95), true, {}},
        {"memory_pressure_cannot_tell", "memory_pressure", State::CannotTell, run, true, {}},
        {"batch_find_max_fires", "batch_find_max", State::Fires, filling(40), false, {"batch.memory_limit=100"}},
        {"batch_find_max_cannot_tell_of_other_programs", "batch_find_max", State::CannotTell, onADevice(20), true, {}},
        {"batch_find_max_silent", "batch_find_max", State::Silent, filling(50), false, {"batch.memory_limit=100"}},
        {"batch_find_max_cannot_tell", "batch_find_max", State::CannotTell, run, true, {}},
    };
}

/// A recorded program with steps of 10,000 µs on four cores, whose facts have these further entries.
/// @param calls  forward passes per step
std::string programWith(std::string_view facts, int threads = 4, int calls = 1)
{
    std::string text = fmt::format("meta program {{\"schema\":1,\"script\":\"/p/train.py\"{}}}\n"
                                   "meta host.cpu some processor\nmeta host.cores 4\nmeta host.threads {}\n"
                                   "main\nrepeat 12 every 10000\nstep 0 0 10000\n",
                                   facts, threads);
    for (int i = 0; i < calls; ++i)
        text += fmt::format("phase forward {} 200\n", 300 * i);
    return text + "phase backward 6000 3000\nend\n";
}

std::string parameters(std::string_view type)
{
    return programWith(
        fmt::format(R"(,"modules":[{{"model":"model:0","name":"a","parameters":10,"dtype":"{}"}}])", type));
}

// 20 samples of one line.
constexpr std::string_view kLines =
    R"(meta lines {"schema":1,"interval_us":5000,"begin_ns":0,"files":["/p/train.py"],"places":[[0,9,"main"]],"stacks":[[0]],)"
    R"("samples":[0,0,0,5000,0,5000,0,5000,0,5000,0,5000,0,5000,0,5000,0,5000,0,5000,0,5000,0,5000]})"
    "\n";

std::vector<Fixture> programFixtures()
{
    const std::string limit = R"(,"environment":{"OMP_NUM_THREADS":"1"})";
    return {
        {"model_loop_fires", "model_loop", State::Fires, programWith(R"(,"forward_lines":[])", 4, 8), true, {}},
        {"model_loop_silent",
         "model_loop",
         State::Silent,
         std::string(kLines) + programWith(R"(,"forward_lines":[])"),
         true,
         {}},
        {"model_loop_cannot_tell", "model_loop", State::CannotTell, programWith({}), true, {}},
        {"precision_float64_fires", "precision_float64", State::Fires, parameters("float64"), true, {}},
        {"precision_float64_silent", "precision_float64", State::Silent, parameters("float32"), true, {}},
        {"precision_float64_cannot_tell", "precision_float64", State::CannotTell, programWith({}), true, {}},
        {"host_threads_fires", "host_threads", State::Fires, programWith(limit, 1), true, {}},
        {"host_threads_silent", "host_threads", State::Silent, programWith(limit, 4), true, {}},
        {"host_threads_cannot_tell",
         "host_threads",
         State::CannotTell,
         std::string(kSteps) + "phase forward 0 9\n",
         true,
         {}},
    };
}

std::vector<Fixture> workFixtures()
{
    const std::string run(kSteps);
    return {
        {"batch_size_fires", "batch_size", State::Fires, optimizing(160), false, {}},
        {"batch_size_silent", "batch_size", State::Silent, optimizing(140), false, {}},
        {"batch_size_cannot_tell", "batch_size", State::CannotTell, run, false, {}},
        {"work_unused_fires", "work_unused", State::Fires, run, false, {"work.unused=true"}},
        {"work_unused_silent", "work_unused", State::Silent, run, false, {}},
        {"work_unused_cannot_tell", "work_unused", State::CannotTell, run, true, {}},
        {"host_async_work_fires", "host_async_work", State::Fires, logging(50), false, {}},
        {"host_async_work_silent", "host_async_work", State::Silent, logging(5), false, {}},
        {"host_async_work_cannot_tell", "host_async_work", State::CannotTell, run, true, {}},
        {"tensors_share_memory_fires", "tensors_share_memory", State::Fires, cloning(50), false, {}},
        {"tensors_share_memory_silent", "tensors_share_memory", State::Silent, cloning(5), false, {}},
        {"tensors_share_memory_cannot_tell", "tensors_share_memory", State::CannotTell, run, false, {}},
        {"thermal_throttling_fires", "thermal_throttling", State::Fires, throttled(0x40), true, {}},
        {"thermal_throttling_silent", "thermal_throttling", State::Silent, throttled(0x4), true, {}},
        {"thermal_throttling_cannot_tell",
         "thermal_throttling",
         State::CannotTell,
         "device 0 gpu\nstream 0 7\nkernel a 0 9",
         true,
         {}},
    };
}

} // namespace

std::vector<Fixture> settingFixtures()
{
    std::vector<Fixture> rows = convergenceFixtures();
    for (const auto& more : {memoryFixtures(), workFixtures(), programFixtures()})
        rows.insert(rows.end(), more.begin(), more.end());
    return rows;
}

} // namespace advisor_test
