#pragma once

#include "profiler/capture/recorder.h"
#include "trainer/models/objective.h"
#include "trainer/parallel/process_group.h"

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
    /// Before each forward pass of training.
    /// @param last  its backward pass ends the step: gradients are exchanged then, and not before
    virtual void prepare(bool last) = 0;
    virtual Pass forward(const BatchTensors& batch) = 0;
    /// After the backward pass: gradients of other copies into the model's own.
    virtual void collect() = 0;
};

/// One copy in each process (DDP): equal weights at first; gradients are averaged in buckets while the backward pass
/// still runs.
std::unique_ptr<ModelCopies> copiesOverProcesses(Network& network, std::shared_ptr<ProcessGroup> group);

/// `count` copies in this process (DataParallel), one on each GPU, or all on the processor: in each step the weights
/// are copied to them, the batch is split among them, each runs on a thread of its own, and the gradients are summed
/// up.
/// @param make  another network like `network`
/// @param recorder  where the threads are named; null: nowhere
std::unique_ptr<ModelCopies> copiesOfOneProcess(Network& network, const std::function<std::shared_ptr<Network>()>& make,
                                                c10::Device device, std::int64_t count,
                                                profiler::capture::Recorder* recorder);

} // namespace trainer
