#include "trainer/memory/checkpointing.h"

#include "profiler/model/result.h"
#include "trainer/memory/tensor_memory.h"
#include "trainer/precision/mixed_precision.h"
#include "trainer/workloads/parts/network.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/nn/modules/batchnorm.h>

#include <chrono>
#include <iomanip>
#include <mutex>
#include <set>
#include <sstream>

namespace trainer {

namespace {

namespace autograd = torch::autograd;

thread_local SavedTensors* current = nullptr;

// LibTorch asks the engine for hooks, but its own engine has none.
class Engine final : public autograd::Engine {
public:
    std::unique_ptr<autograd::SavedVariableHooks> get_default_saved_variable_hooks() override
    {
        return SavedTensors::hooksOfThread();
    }
};

autograd::Engine& engine()
{
    static Engine only;
    return only;
}

} // namespace

SavedTensors::SavedTensors(Make make) : m_make(std::move(make)), m_before(current)
{
    static const bool installed = (autograd::set_default_engine_stub(&engine), true);
    static_cast<void>(installed);
    current = this;
}

SavedTensors::~SavedTensors()
{
    current = m_before;
}

bool SavedTensors::areHooked()
{
    return current != nullptr;
}

std::unique_ptr<autograd::SavedVariableHooks> SavedTensors::hooksOfThread()
{
    return current ? current->m_make() : nullptr;
}

namespace {

constexpr const char *kKnob = "checkpointing", *kHint = "set checkpointing=off";

// The states, at construction, of the generators that a block may use.
class RandomState {
public:
    explicit RandomState(at::Device device)
    {
        save(at::detail::getDefaultCPUGenerator());
        if (!device.is_cpu())
            save(at::globalContext().defaultGenerator(device));
    }
    void restore()
    {
        for (auto& [generator, state] : m_states) {
            const std::lock_guard lock(generator.mutex());
            generator.set_state(state);
        }
    }

private:
    void save(at::Generator generator)
    {
        const std::lock_guard lock(generator.mutex());
        m_states.emplace_back(generator, generator.get_state());
    }
    std::vector<std::pair<at::Generator, at::Tensor>> m_states;
};

// Restores earlier generator states in a scope.
class RandomStateAside {
public:
    RandomStateAside(at::Device device, RandomState& other) : m_real(device) { other.restore(); }
    ~RandomStateAside() { m_real.restore(); }
    RandomStateAside(const RandomStateAside&) = delete;
    RandomStateAside& operator=(const RandomStateAside&) = delete;

private:
    RandomState m_real;
};

// Lets batch norms update copies of their statistics in a scope. The tensors are exchanged, not overwritten, because
// tensors saved for the backward pass must not change.
class StatisticsAside {
public:
    explicit StatisticsAside(torch::nn::Module& module)
    {
        for (const auto& part : module.modules()) {
            if (auto* norm = dynamic_cast<torch::nn::BatchNorm1dImpl*>(part.get()))
                putAside(*norm);
            else if (auto* norm2d = dynamic_cast<torch::nn::BatchNorm2dImpl*>(part.get()))
                putAside(*norm2d);
            else if (auto* norm3d = dynamic_cast<torch::nn::BatchNorm3dImpl*>(part.get()))
                putAside(*norm3d);
        }
    }
    ~StatisticsAside()
    {
        for (auto& [place, tensor] : m_real)
            *place = tensor;
    }
    StatisticsAside(const StatisticsAside&) = delete;
    StatisticsAside& operator=(const StatisticsAside&) = delete;

private:
    template <class Norm>
    void putAside(Norm& norm)
    {
        for (at::Tensor* place : {&norm.running_mean, &norm.running_var, &norm.num_batches_tracked})
            if (place->defined()) {
                m_real.emplace_back(place, *place);
                *place = place->clone();
            }
    }
    std::vector<std::pair<at::Tensor*, at::Tensor>> m_real;
};

// Ends a recomputation once it has everything that is needed.
struct Enough {};

void waitFor(at::Device device)
{
    if (device.is_cpu())
        return;
    const c10::impl::VirtualGuardImpl guard(device.type());
    guard.getStream(device).synchronize();
}

// Parameters are in memory anyway, and so are views of them: a linear layer stores its transposed weight.
bool staysAnyway(const at::Tensor& tensor)
{
    const at::TensorBase& owner = tensor.is_view() ? tensor._base() : tensor;
    return owner.is_leaf() && owner.requires_grad();
}

// One pass through a block. Owned by the operators that need its tensors; all are on one device and therefore on one
// thread of the backward pass.
class Frame {
public:
    Frame(BlockFunction block, torch::nn::Module& module, std::vector<at::Tensor> inputs,
          std::shared_ptr<RecomputeCost> cost)
        : m_block(std::move(block)), m_module(module), m_inputs(std::move(inputs)), m_device(m_inputs[0].device()),
          m_autocast(Autocast::current(m_device.type())), m_random(m_device), m_cost(std::move(cost))
    {
        for (const at::Tensor& input : m_inputs)
            m_versions.push_back(input._version());
    }

    // The first run.
    at::Tensor run(const SavedTensors::Make& drop)
    {
        at::Tensor output;
        {
            const SavedTensors dropping(drop);
            output = m_block(m_inputs);
        }
        if (m_cost)
            m_cost->freedBytes = freedBytes(output);
        m_storages.clear();
        return output;
    }

    // Returns the number of a tensor that is not stored.
    std::size_t drop(const at::Tensor& tensor)
    {
        m_dropped.push_back({tensor.sizes().vec(), tensor.scalar_type()});
        if (m_cost)
            m_storages.emplace_back(tensor.storage().getWeakStorageImpl(),
                                    static_cast<std::int64_t>(tensor.storage().nbytes()));
        return m_dropped.size() - 1;
    }

    at::Tensor get(std::size_t index)
    {
        if (m_again.empty() || !m_again[index].defined())
            computeAgain();
        return m_again[index];
    }

    void release(std::size_t index)
    {
        if (index < m_again.size())
            m_again[index].reset();
    }

private:
    struct Shape {
        std::vector<std::int64_t> sizes;
        at::ScalarType type;
    };

    // Collects the tensors that the second run would store.
    class Collected final : public autograd::SavedVariableHooks {
    public:
        Collected(std::vector<at::Tensor>& found, std::size_t wanted) : m_found(found), m_wanted(wanted) {}
        void call_pack_hook(const at::Tensor& tensor) override
        {
            if (staysAnyway(tensor))
                return;
            m_found.push_back(tensor.detach());
            if (m_found.size() == m_wanted)
                throw Enough();
        }
        at::Tensor call_unpack_hook() override
        {
            profiler::throwError<"recompute.backward", "A recomputed block runs its own backward pass">(
                profiler::Error::Code::Unsupported, kKnob, kHint);
        }

    private:
        std::vector<at::Tensor>& m_found;
        std::size_t m_wanted;
    };

    // Counts each storage once, although several views of it may be saved.
    [[nodiscard]] std::int64_t freedBytes(const at::Tensor& output) const
    {
        std::set<const c10::StorageImpl*> seen = {output.storage().unsafeGetStorageImpl()};
        for (const at::Tensor& input : m_inputs)
            seen.insert(input.storage().unsafeGetStorageImpl());
        for (const at::Tensor& buffer : m_module.buffers())
            seen.insert(buffer.storage().unsafeGetStorageImpl());
        std::int64_t bytes = 0;
        for (const auto& [storage, size] : m_storages)
            if (seen.insert(storage._unsafe_get_target()).second)
                bytes += size;
        return bytes;
    }

    void computeAgain()
    {
        for (std::size_t i = 0; i < m_inputs.size(); ++i)
            if (m_inputs[i]._version() != m_versions[i])
                profiler::throwError<"recompute.input_changed",
                                     "The input of a recomputed block was changed in place after its forward pass">(
                    profiler::Error::Code::Unsupported, kKnob, kHint);
        if (m_cost)
            waitFor(m_device);
        const auto begin = std::chrono::steady_clock::now();
        std::vector<at::Tensor> found;
        secondRun(found);
        if (m_cost) {
            waitFor(m_device);
            m_cost->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        }
        bool same = found.size() == m_dropped.size();
        for (std::size_t i = 0; same && i < found.size(); ++i)
            same = found[i].sizes() == m_dropped[i].sizes && found[i].scalar_type() == m_dropped[i].type;
        if (!same)
            profiler::throwError<"recompute.differs",
                                 "A recomputed block produced other tensors in its second forward pass">(
                profiler::Error::Code::Unsupported, kKnob, kHint);
        m_again = std::move(found);
    }

    void secondRun(std::vector<at::Tensor>& found)
    {
        try {
            const RandomStateAside random(m_device, m_random);
            const at::AutoGradMode recording(true);
            const Autocast autocast(m_device.type(), m_autocast);
            const StatisticsAside statistics(m_module);
            const SavedTensors collecting([&] { return std::make_unique<Collected>(found, m_dropped.size()); });
            m_block(m_inputs);
        } catch (const Enough&) { // NOLINT(bugprone-empty-catch): how it normally ends
        }
    }

    BlockFunction m_block;
    torch::nn::Module& m_module;
    std::vector<at::Tensor> m_inputs;
    std::vector<std::int64_t> m_versions; // versions of the inputs
    at::Device m_device;
    std::optional<at::ScalarType> m_autocast;
    RandomState m_random;
    std::shared_ptr<RecomputeCost> m_cost;
    std::vector<Shape> m_dropped;
    std::vector<std::pair<c10::weak_intrusive_ptr<c10::StorageImpl>, std::int64_t>> m_storages; // in the first run
    std::vector<at::Tensor> m_again;
};

// Replaces a tensor that an operator would have saved.
class Dropped final : public autograd::SavedVariableHooks {
public:
    explicit Dropped(std::shared_ptr<Frame> frame) : m_frame(std::move(frame)) {}
    ~Dropped() override
    {
        if (m_index)
            m_frame->release(*m_index);
    }
    Dropped(const Dropped&) = delete;
    Dropped& operator=(const Dropped&) = delete;

    void call_pack_hook(const at::Tensor& tensor) override
    {
        if (staysAnyway(tensor))
            m_kept = tensor.detach();
        else
            m_index = m_frame->drop(tensor);
    }
    at::Tensor call_unpack_hook() override { return m_index ? m_frame->get(*m_index) : m_kept; }

private:
    std::shared_ptr<Frame> m_frame;
    std::optional<std::size_t> m_index;
    at::Tensor m_kept;
};

} // namespace

at::Tensor recomputed(const BlockFunction& block, torch::nn::Module& module, std::vector<at::Tensor> inputs,
                      std::shared_ptr<RecomputeCost> cost)
{
    if (!at::GradMode::is_enabled())
        return block(inputs);
    const auto frame = std::make_shared<Frame>(block, module, std::move(inputs), std::move(cost));
    return frame->run([frame] { return std::make_unique<Dropped>(frame); });
}

namespace {

// The first pass allocates memory and chooses algorithms, so its times are not representative.
constexpr int kMeasuredPasses = 2;

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
