#pragma once

#include "profiler/capture/recorder.h"
#include "trainer/parallel/process_group.h"
#include "trainer/workloads/parts/network.h"

#include <cstdint>
#include <functional>
#include <memory>

namespace trainer {

class Network;
struct BatchTensors;

/// Copies of a model that train on parts of a batch and share their gradients.
class ModelCopies {
public:
    virtual ~ModelCopies() = default;
    /// Call it before each forward pass of training.
    /// @param last  the backward pass of this pass ends the step: only then are gradients exchanged
    virtual void prepare(bool last) = 0;
    virtual Pass forward(const BatchTensors& batch) = 0;
    /// Call it after the backward pass: adds the gradients of other copies to the model's own.
    virtual void collect() = 0;
};

/// One copy per process (DDP): equal initial weights; gradients are averaged in buckets during the backward pass.
std::unique_ptr<ModelCopies> copiesOverProcesses(Network& network, std::shared_ptr<ProcessGroup> group);

/// `count` copies in this process (DataParallel), one per GPU or all on the CPU: in each step, the weights are copied
/// to them, the batch is split, each copy runs on its own thread, and the gradients are summed.
/// @param make  creates another network like `network`
/// @param recorder  receives the names of the threads; null: none
std::unique_ptr<ModelCopies> copiesOfOneProcess(Network& network, const std::function<std::shared_ptr<Network>()>& make,
                                                c10::Device device, std::int64_t count,
                                                profiler::capture::Recorder* recorder);

} // namespace trainer
