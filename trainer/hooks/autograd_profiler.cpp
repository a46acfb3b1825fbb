#include "trainer/hooks/autograd_profiler.h"

#include <set>
#include <torch/csrc/autograd/profiler_kineto.h>

namespace trainer {

namespace {

using Activities = std::set<torch::profiler::impl::ActivityType>;
std::int64_t total = 0; // only the training thread has scopes

} // namespace

AutogradProfiler::AutogradProfiler()
{
    const torch::profiler::impl::ProfilerConfig settings(torch::profiler::impl::ProfilerState::KINETO);
    const Activities processorOnly = {torch::profiler::impl::ActivityType::CPU};
    torch::autograd::profiler::prepareProfiler(settings, processorOnly);
    torch::autograd::profiler::enableProfiler(settings, processorOnly);
}

AutogradProfiler::~AutogradProfiler()
{
    const auto result = torch::autograd::profiler::disableProfiler();
    if (result)
        total += static_cast<std::int64_t>(result->events().size());
}

std::int64_t AutogradProfiler::events()
{
    return total;
}

} // namespace trainer
