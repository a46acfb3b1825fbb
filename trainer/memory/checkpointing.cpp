#include "trainer/memory/checkpointing.h"

#include "trainer/memory/cheap_part.h"
#include "trainer/memory/counted_memory.h"
#include "trainer/memory/peak_memory.h"
#include "trainer/workloads/network.h"

#include <ATen/ATen.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <chrono>
#include <iomanip>
#include <sstream>

namespace trainer {

namespace {

// The first pass allocates memory and chooses algorithms, so its times are not representative.
constexpr int kMeasuredPasses = 2;

void waitFor(at::Device device)
{
    if (device.is_cpu())
        return;
    const c10::impl::VirtualGuardImpl guard(device.type());
    guard.getStream(device).synchronize();
}

} // namespace

struct Checkpointing::State {
    // A part that may be recomputed.
    struct Part {
        std::string name;
        std::shared_ptr<RecomputeCost> cost = std::make_shared<RecomputeCost>();
        bool recomputed = false;
    };
    // Duration of a block's forward pass, and the bytes that its parts without recomputation store.
    struct Pass {
        double seconds = 0;
        std::int64_t keptBytes = 0;
    };
    Choice choice;
    at::Device device;
    std::vector<Part> parts;
    std::vector<Pass> blocks;
    int passes = 0;
    bool decided = false;

    at::Tensor run(std::size_t index, torch::nn::Module& module, at::TensorList inputs, const BlockFunction& function)
    {
        const Part& part = parts[index];
        const bool measuring = choice == Choice::Cheap && !decided;
        if (!at::GradMode::is_enabled() || !module.is_training() || (!measuring && !part.recomputed))
            return function(inputs);
        return recomputed(function, module, inputs.vec(), measuring ? part.cost : nullptr);
    }

    at::Tensor runBlock(std::size_t index, torch::nn::Module& module, at::TensorList inputs,
                        const BlockFunction& function)
    {
        if (decided || !at::GradMode::is_enabled() || !module.is_training())
            return function(inputs);
        if (index == 0 && ++passes > kMeasuredPasses)
            decide();
        waitFor(device);
        const std::int64_t before = tensorBytes(device);
        const auto begin = std::chrono::steady_clock::now();
        at::Tensor output = function(inputs);
        waitFor(device);
        blocks[index].seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        blocks[index].keptBytes =
            std::max<std::int64_t>(tensorBytes(device) - before - static_cast<std::int64_t>(output.nbytes()), 0);
        return output;
    }

    void decide()
    {
        double seconds = 0, bytes = 0;
        for (const Pass& block : blocks) {
            seconds += block.seconds;
            bytes += static_cast<double>(block.keptBytes);
        }
        for (const Part& part : parts)
            bytes += static_cast<double>(part.cost->freedBytes);
        for (Part& part : parts)
            part.recomputed = part.cost->freedBytes > 0 &&
                              static_cast<double>(part.cost->freedBytes) * seconds >= bytes * part.cost->seconds;
        decided = true;
    }
};

Checkpointing::Checkpointing(Network& network, Choice choice, at::Device device)
    : m_state(std::make_shared<State>(State{choice, device, {}, {}, 0, choice != Choice::Cheap}))
{
    if (choice == Choice::Cheap)
        countCpuMemory();
    const auto add = [&](std::string name) {
        m_state->parts.push_back({std::move(name)});
        m_state->parts.back().recomputed = choice == Choice::All;
        return m_state->parts.size() - 1;
    };
    const auto children = network.named_children();
    for (Block& block : network.blocks()) {
        torch::nn::Module& module = *children[block.name];
        bool divided = false;
        if (choice == Choice::Cheap)
            for (const auto& child : module.named_modules(block.name, false))
                if (auto* part = child.value()->as<CheapPart>()) {
                    divided = true;
                    part->runs = [state = m_state, index = add(child.key())](
                                     torch::nn::Module& owner, at::TensorList inputs, const BlockFunction& function) {
                        return state->run(index, owner, inputs, function);
                    };
                }
        if (choice == Choice::Off)
            continue;
        if (!divided)
            block.run = [state = m_state, index = add(block.name), &module, run = block.run](at::TensorList inputs) {
                return state->run(index, module, inputs, run);
            };
        if (choice == Choice::Cheap) {
            block.run = [state = m_state, index = m_state->blocks.size(), &module, run = block.run](
                            at::TensorList inputs) { return state->runBlock(index, module, inputs, run); };
            m_state->blocks.emplace_back();
        }
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
        costs.push_back({part.name, part.cost->seconds, part.cost->freedBytes, part.recomputed});
    return costs;
}

std::string partsText(const std::vector<Checkpointing::Cost>& costs)
{
    std::ostringstream text;
    text << std::fixed << std::setprecision(2);
    for (const Checkpointing::Cost& cost : costs)
        text << (text.tellp() == 0 ? "" : "; ") << cost.part << (cost.recomputed ? " (recomputed)" : "") << ": "
             << cost.seconds * 1e3 << " ms, " << static_cast<double>(cost.freedBytes) / 1e6 << " MB";
    return text.str();
}

std::string choiceText(const std::vector<Checkpointing::Cost>& costs)
{
    Checkpointing::Cost sum;
    int chosen = 0;
    for (const Checkpointing::Cost& cost : costs)
        if (cost.recomputed) {
            ++chosen;
            sum.seconds += cost.seconds;
            sum.freedBytes += cost.freedBytes;
        }
    std::ostringstream text;
    text << std::fixed << std::setprecision(1) << "Recomputing " << chosen << " of " << costs.size()
         << " parts of the model, which in each pass takes " << sum.seconds * 1e3 << " ms and frees "
         << static_cast<double>(sum.freedBytes) / 1e6 << " MB";
    return text.str();
}

} // namespace trainer
