#pragma once

#include "trainer/loop/host_work.h"
#include "trainer/loop/meter.h"
#include "trainer/loop/recording.h"

#include <deque>
#include <future>

namespace trainer {

/// Loss and metric of the steps, computed and read back in the step or, with host.async_work, on a thread of its own,
/// which then waits for the device instead of the step: the same sums in the same order. Used by the training's thread.
class Metrics {
public:
    /// @param apart  on a thread of its own
    Metrics(Objective objective, bool apart, Recording& recording);
    /// Finishes what was given.
    ~Metrics();

    /// Adds a micro-batch. Its tensors must not be written any more.
    void add(TrainStep::Output output, std::int64_t samples);
    /// Adds one, and reads back.
    /// @return the mean loss since the last read; what computing it threw
    std::shared_future<double> addAndRead(TrainStep::Output output, std::int64_t samples);
    /// Reads back what was added; something must have been since the last read.
    /// @return as addAndRead()
    std::shared_future<double> read();
    /// Means since the last take, over all ranks of `group`.
    Meter::Means take(ProcessGroup* group);
    /// Puts the losses that were read by now into the trace. Throws what computing them threw.
    void sample();

    /// Sums so far, once they are known: what a resumed run needs.
    std::shared_future<std::vector<double>> state();
    void setState(const std::vector<double>& sums);

private:
    template <class Value>
    std::shared_future<Value> later(std::function<Value()> work);
    void finish();

    Recording& m_recording;
    bool m_apart;
    Meter m_meter; // the thread's while there is work for it
    std::deque<std::shared_future<double>> m_unsampled;
    HostWork m_work;
};

} // namespace trainer
