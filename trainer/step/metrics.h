#pragma once

#include "trainer/session/host_work.h"
#include "trainer/session/recording.h"
#include "trainer/step/train_step.h"

#include <cstdint>
#include <deque>
#include <future>
#include <optional>
#include <vector>

/// Loss and metric of a training, summed on the device over many steps.
namespace trainer {

/// Sums loss and metric over steps. The sums stay on the device; only reading them back waits for it.
class Meter {
public:
    struct Means {
        double loss = 0, metric = 0;
    };

    explicit Meter(Objective objective) : m_objective(objective) {}
    /// @param samples  of the batch
    void add(const TrainStep::Output& output, std::int64_t samples);
    /// Reads the sums since the last read.
    /// @return the mean loss over them
    double read();
    /// Reads the sums and returns the means over all samples since the last take().
    /// @param group  combines all ranks, which must all call it; null: only this process
    Means take(ProcessGroup* group = nullptr);

    /// The current sums, after reading them: part of the state of a resumed run.
    std::vector<double> state();
    void setState(const std::vector<double>& sums);

private:
    Objective m_objective;
    at::Tensor m_loss;          // sum over the samples not yet read; undefined: none
    at::Tensor m_sum, m_weight; // sum of the metric over them; m_weight is undefined if m_count holds the weight
    double m_count = 0;
    std::int64_t m_unread = 0;
    double m_lossRead = 0, m_sumRead = 0, m_weightRead = 0;
    std::int64_t m_samplesRead = 0;
};

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
