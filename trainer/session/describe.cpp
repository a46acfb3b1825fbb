#include "trainer/session/describe.h"

#include "stepscope_run_base_schedules_registry.h"
#include "stepscope_training_optimizers_registry.h"
#include "stepscope_training_workloads_registry.h"
#include "trainer/session/gpu_driver.h"
#include "trainer/session/host.h"
#include "trainer_data_datasets_registry.h"

#include <torch/version.h>

namespace trainer {

namespace {

template <class Entry>
std::vector<config::protocol::Choice> choices(const std::vector<profiler::Registered<Entry>>& all)
{
    std::vector<config::protocol::Choice> list;
    for (const auto& [stem, entry] : all)
        list.push_back({std::string(stem), std::string(entry.title), std::string(entry.doc)});
    return list;
}

} // namespace

config::protocol::Description describe()
{
    const GpuState gpu = askGpuDriver();
    return {choices(workloads::all()),
            choices(datasets::all()),
            choices(optimizers::all()),
            choices(schedules::all()),
            gpu.available,
            gpu.reason.text,
            gpu.reason.id,
            TORCH_VERSION,
            usableCores()};
}

} // namespace trainer
