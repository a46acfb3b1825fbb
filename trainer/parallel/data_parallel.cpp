#include "trainer/parallel/data_parallel.h"

#include "trainer/memory/device_batch.h"
#include "trainer/precision/mixed_precision.h"
#include "trainer/workloads/parts/network.h"

#include <ATen/ATen.h>
#include <ATen/ThreadLocalState.h>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/comm.hpp>
#include <torch/csrc/distributed/c10d/reducer.hpp>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

namespace trainer {

namespace {

// A thread that lives as long as its copy: a new thread per pass would give a new track per pass.
class CopyThread {
public:
    CopyThread(std::string name, profiler::capture::Recorder* recorder)
        : m_thread([this, name = std::move(name), recorder] {
              if (recorder)
                  recorder->nameThisThread(name, profiler::TrackKind::Thread);
              run();
          })
    {
    }
    ~CopyThread()
    {
        {
            const std::lock_guard lock(m_mutex);
            m_ending = true;
        }
        m_changed.notify_all();
        m_thread.join();
    }
    CopyThread(const CopyThread&) = delete;
    CopyThread& operator=(const CopyThread&) = delete;

    /// @param work  must not throw. Call it only after wait()
    void give(std::function<void()> work)
    {
        {
            const std::lock_guard lock(m_mutex);
            m_work = std::move(work);
        }
        m_changed.notify_all();
    }
    void wait()
    {
        std::unique_lock lock(m_mutex);
        m_changed.wait(lock, [this] { return !m_work; });
    }

private:
    void run()
    {
        std::unique_lock lock(m_mutex);
        for (;;) {
            m_changed.wait(lock, [this] { return m_ending || m_work; });
            if (!m_work)
                return;
            lock.unlock();
            m_work();
            lock.lock();
            m_work = nullptr;
            m_changed.notify_all();
        }
    }

    std::mutex m_mutex; // not held while work runs
    std::condition_variable m_changed;
    std::function<void()> m_work; // empty: none
    bool m_ending = false;
    std::thread m_thread;
};

class InOneProcess final : public ModelCopies {
public:
    InOneProcess(Network& network, const std::function<std::shared_ptr<Network>()>& make, at::Device device,
                 std::int64_t count, profiler::capture::Recorder* recorder)
        : m_network(network), m_device(device)
    {
        for (std::int64_t i = 1; i < count; ++i) {
            m_copies.push_back(make());
            m_copies.back()->to(deviceOf(i));
            m_copies.back()->train();
            m_threads.push_back(std::make_unique<CopyThread>("copy " + std::to_string(i), recorder));
        }
    }

    // Copies the weights to the copies in every step, which makes this slower than one process per copy.
    void prepare(bool) override
    {
        const at::NoGradGuard noGradients;
        const auto parameters = m_network.parameters(), buffers = m_network.buffers();
        for (const auto& copy : m_copies) {
            auto theirs = copy->parameters();
            for (std::size_t i = 0; i < theirs.size(); ++i) {
                theirs[i].set_requires_grad(parameters[i].requires_grad());
                theirs[i].copy_(parameters[i]);
                theirs[i].mutable_grad().reset();
            }
            auto statistics = copy->buffers();
            for (std::size_t i = 0; i < statistics.size(); ++i)
                statistics[i].copy_(buffers[i]);
        }
    }

    Pass forward(const BatchTensors& batch) override
    {
        const auto parts = split(batch);
        std::vector<Pass> passes(parts.size());
        std::vector<std::exception_ptr> failures(parts.size());
        const at::ThreadLocalState state;
        const auto half = Autocast::current(m_device.type());
        for (std::size_t i = 1; i < parts.size(); ++i)
            m_threads[i - 1]->give([&, i] {
                const at::ThreadLocalStateGuard guard(state);
                try {
                    const Autocast autocast(m_device.type(), half);
                    passes[i] = m_copies[i - 1]->forward(parts[i]);
                } catch (...) {
                    failures[i] = std::current_exception();
                }
            });
        try {
            passes[0] = m_network.forward(parts[0]);
        } catch (...) {
            failures[0] = std::current_exception();
        }
        for (const auto& thread : m_threads)
            thread->wait();
        for (const std::exception_ptr& failure : failures)
            if (failure)
                std::rethrow_exception(failure);
        return gathered(passes);
    }

    void collect() override
    {
        const at::NoGradGuard noGradients;
        auto parameters = m_network.parameters();
        for (const auto& copy : m_copies) {
            const auto theirs = copy->parameters();
            for (std::size_t i = 0; i < theirs.size(); ++i) {
                const at::Tensor& gradient = theirs[i].grad();
                if (!gradient.defined())
                    continue;
                at::Tensor& own = parameters[i].mutable_grad();
                if (own.defined())
                    own.add_(gradient.to(m_device));
                else
                    own = gradient.to(m_device, gradient.scalar_type(), false, true);
            }
        }
    }

private:
    [[nodiscard]] at::Device deviceOf(std::int64_t copy) const
    {
        return m_device.is_cpu() ? m_device : at::Device(m_device.type(), static_cast<at::DeviceIndex>(copy));
    }

    // Splits into equal parts; fewer parts than copies if there are fewer samples.
    [[nodiscard]] std::vector<BatchTensors> split(const BatchTensors& batch) const
    {
        const auto copies = static_cast<std::int64_t>(m_copies.size()) + 1;
        const std::int64_t size = (batch.count + copies - 1) / copies;
        std::vector<BatchTensors> parts;
        for (std::int64_t begin = 0; begin < batch.count; begin += size) {
            const std::int64_t count = std::min(size, batch.count - begin);
            const at::Device device = deviceOf(static_cast<std::int64_t>(parts.size()));
            BatchTensors part;
            part.count = count;
            for (const at::Tensor& input : batch.inputs)
                part.inputs.push_back(input.narrow(0, begin, count).to(device));
            part.target = batch.target.narrow(0, begin, count).to(device);
            parts.push_back(std::move(part));
        }
        return parts;
    }

    [[nodiscard]] Pass gathered(const std::vector<Pass>& passes) const
    {
        std::vector<at::Tensor> predictions, targets;
        for (const Pass& pass : passes) {
            predictions.push_back(pass.predictions.to(m_device));
            targets.push_back(pass.targets.to(m_device));
        }
        return {at::cat(predictions), at::cat(targets)};
    }

    Network& m_network;
    at::Device m_device;
    std::vector<std::shared_ptr<Network>> m_copies;     // in addition to the network itself
    std::vector<std::unique_ptr<CopyThread>> m_threads; // one per copy
};

} // namespace

std::unique_ptr<ModelCopies> copiesOfOneProcess(Network& network, const std::function<std::shared_ptr<Network>()>& make,
                                                at::Device device, std::int64_t count,
                                                profiler::capture::Recorder* recorder)
{
    return std::make_unique<InOneProcess>(network, make, device, count, recorder);
}

namespace {

// As in DistributedDataParallel: a small first bucket, so that the exchange begins early.
constexpr std::size_t kFirstBucket = 1 << 20, kBucket = 25 << 20;

class OverProcesses final : public ModelCopies {
public:
    OverProcesses(Network& network, std::shared_ptr<ProcessGroup> group)
        : m_network(network), m_group(std::move(group)),
          m_native(c10::intrusive_ptr<c10d::ProcessGroup>::reclaim_copy(&m_group->native()))
    {
        std::vector<at::Tensor> trained;
        for (const at::Tensor& parameter : network.parameters())
            if (parameter.requires_grad())
                trained.push_back(parameter);
        broadcast(network.parameters());
        broadcast(network.buffers());
        makeReducer(trained);
    }

    void prepare(bool last) override
    {
        m_last = last;
        if (!last)
            return;
        // All ranks use the batch norm statistics of rank 0, as in DistributedDataParallel.
        broadcast(m_network.buffers());
        m_reducer->prepare_for_forward();
        m_reducer->rebuild_buckets();
    }

    Pass forward(const BatchTensors& batch) override
    {
        Pass pass = m_network.forward(batch);
        if (m_last)
            m_reducer->prepare_for_backward({pass.predictions});
        return pass;
    }

    void collect() override {}

private:
    void broadcast(const std::vector<at::Tensor>& tensors)
    {
        if (tensors.empty())
            return;
        const at::NoGradGuard noGradients;
        std::vector<at::Tensor> plain;
        for (const at::Tensor& tensor : tensors)
            plain.push_back(tensor.detach());
        c10d::broadcast_coalesced(m_native, plain, kBucket, 0);
    }

    void makeReducer(const std::vector<at::Tensor>& trained)
    {
        auto [buckets, limits] = c10d::compute_bucket_assignment_by_size(trained, {kFirstBucket, kBucket});
        // The backward pass reaches the last layers first.
        std::reverse(buckets.begin(), buckets.end());
        m_reducer = std::make_shared<c10d::Reducer>(
            trained, buckets, m_native, std::vector<bool>(trained.size(), false), static_cast<std::int64_t>(kBucket),
            false, false, std::unordered_map<std::size_t, std::string>{}, static_cast<std::int64_t>(kFirstBucket),
            false, false, std::vector<std::int64_t>{});
    }

    Network& m_network;
    std::shared_ptr<ProcessGroup> m_group;
    c10::intrusive_ptr<c10d::ProcessGroup> m_native;
    std::shared_ptr<c10d::Reducer> m_reducer;
    bool m_last = true;
};

} // namespace

std::unique_ptr<ModelCopies> copiesOverProcesses(Network& network, std::shared_ptr<ProcessGroup> group)
{
    return std::make_unique<OverProcesses>(network, std::move(group));
}

} // namespace trainer
