#include "trainer/parallel/copies.h"
#include "trainer/workloads/network.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/comm.hpp>
#include <torch/csrc/distributed/c10d/reducer.hpp>

namespace trainer {

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
