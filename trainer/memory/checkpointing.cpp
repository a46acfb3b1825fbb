#include "trainer/memory/checkpointing.h"

#include "trainer/memory/recompute.h"
#include "trainer/workloads/network.h"

#include <ATen/ATen.h>
#include <c10/core/Allocator.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <c10/util/ThreadLocalDebugInfo.h>
#include <chrono>

namespace trainer {

namespace {

// The first pass allocates and chooses algorithms: it says nothing about those after it.
constexpr int kWarmupPasses = 1;

// Counts what is allocated and freed on this thread while it lives.
class AllocationBalance final : public c10::MemoryReportingInfoBase {
public:
    void reportMemoryUsage(void*, std::int64_t bytes, std::size_t, std::size_t, c10::Device) override
    {
        m_bytes += bytes;
    }
    [[nodiscard]] bool memoryProfilingEnabled() const override { return true; }
    [[nodiscard]] std::int64_t bytes() const { return m_bytes; }

private:
    std::int64_t m_bytes = 0;
};

void waitFor(at::Device device)
{
    if (device.is_cpu())
        return;
    const c10::impl::VirtualGuardImpl guard(device.type());
    guard.getStream(device).synchronize();
}

} // namespace

struct Checkpointing::State {
    struct Part {
        BlockFunction run;
        std::shared_ptr<torch::nn::Module> module;
        Cost cost;
        int passes = 0;
    };
    Choice choice;
    at::Device device;
    std::vector<Part> parts;
    bool decided = false;

    at::Tensor run(std::size_t index, const at::Tensor& input)
    {
        Part& part = parts[index];
        if (!at::GradMode::is_enabled() || !part.module->is_training())
            return part.run(input);
        if (!decided && choice == Choice::Cheap)
            return measured(part, input);
        return part.cost.recomputed ? recomputed(part.run, *part.module, input) : part.run(input);
    }

    at::Tensor measured(Part& part, const at::Tensor& input)
    {
        waitFor(device);
        const auto balance = std::make_shared<AllocationBalance>();
        const auto begin = std::chrono::steady_clock::now();
        at::Tensor output;
        {
            const c10::DebugInfoGuard guard(c10::DebugInfoKind::PROFILER_STATE, balance);
            output = part.run(input);
        }
        waitFor(device);
        part.cost.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        part.cost.keptBytes = std::max<std::int64_t>(balance->bytes() - static_cast<std::int64_t>(output.nbytes()), 0);
        if (++part.passes > kWarmupPasses && &part == &parts.back())
            decide();
        return output;
    }

    void decide()
    {
        double seconds = 0, bytes = 0;
        for (const Part& part : parts) {
            seconds += part.cost.seconds;
            bytes += static_cast<double>(part.cost.keptBytes);
        }
        for (Part& part : parts)
            part.cost.recomputed =
                bytes > 0 && static_cast<double>(part.cost.keptBytes) * seconds >= bytes * part.cost.seconds;
        decided = true;
    }
};

Checkpointing::Checkpointing(Network& network, Choice choice, at::Device device)
    : m_state(std::make_shared<State>(State{choice, device, {}, choice != Choice::Cheap}))
{
    const auto children = network.named_children();
    for (Block& block : network.blocks()) {
        const std::size_t index = m_state->parts.size();
        m_state->parts.push_back({block.run, children[block.name], {block.name, 0, 0, choice == Choice::All}});
        if (choice != Choice::Off)
            block.run = [state = m_state, index](const at::Tensor& input) { return state->run(index, input); };
    }
}

Checkpointing::~Checkpointing() = default;

bool Checkpointing::decided() const
{
    return m_state->decided;
}

std::vector<Checkpointing::Cost> Checkpointing::costs() const
{
    std::vector<Cost> costs;
    for (const State::Part& part : m_state->parts)
        costs.push_back(part.cost);
    return costs;
}

} // namespace trainer
