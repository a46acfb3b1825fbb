#pragma once

#include "trainer/session/host_work.h"
#include "trainer/session/recording.h"
#include "trainer/step/meter.h"

#include <deque>
#include <future>

namespace trainer {

/// Loss and metric of the steps, computed and read back in the step or, with host.async_work, on a separate thread,
/// which then waits for the device instead of the step: the same sums in the same order. Called only by the training
/// thread.
class Metrics {
public:
    /// @param apart  uses a separate thread
    Metrics(Objective objective, bool apart, Recording& recording);
    /// Finishes all pending work.
    ~Metrics();

    /// Adds a micro-batch. Its tensors must not be written afterwards.
    void add(TrainStep::Output output, std::int64_t samples);
    /// Adds a micro-batch and reads back.
    /// @return the mean loss since the last read; holds the exception if computing it threw
    std::shared_future<double> addAndRead(TrainStep::Output output, std::int64_t samples);
    /// Reads back the sums; at least one micro-batch must have been added since the last read.
    /// @return as addAndRead()
    std::shared_future<double> read();
    /// Means since the last take(), over all ranks of `group`.
    Meter::Means take(ProcessGroup* group);
    /// Writes the losses read so far to the trace. Rethrows exceptions of their computation.
    void sample();

    /// The current sums once they are known: part of the state of a resumed run.
    std::shared_future<std::vector<double>> state();
    void setState(const std::vector<double>& sums);

private:
    template <class Value>
    std::shared_future<Value> later(std::function<Value()> work);
    void finish();

    Recording& m_recording;
    bool m_apart;
    Meter m_meter; // used by the thread while it has work
    std::deque<std::shared_future<double>> m_unsampled;
    HostWork m_work;
};

} // namespace trainer
