#include "trainer/memory/recompute.h"

#include "profiler/model/failure.h"
#include "trainer/memory/saved_tensors.h"
#include "trainer/precision/autocast.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <chrono>
#include <mutex>
#include <set>
#include <torch/nn/modules/batchnorm.h>

namespace trainer {

namespace {

namespace autograd = torch::autograd;

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

} // namespace trainer
