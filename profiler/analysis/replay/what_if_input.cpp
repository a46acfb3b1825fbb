#include "profiler/analysis/replay/what_if_input.h"

#include "profiler/analysis/intervals.h"
#include "profiler/analysis/loader/loader_work.h"
#include "profiler/analysis/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace profiler::analysis {

namespace {

constexpr std::size_t kMostSteps = 2000; // number of replayed steps; a longer recording is not more representative
constexpr std::size_t kLeastSteps = 100;

/// Discrete-event replay of one loader and one compute thread that share cores.
class Replay {
public:
    Replay(const InputModel& model, LoaderSetup setup, int computeThreads, CoreSharing sharing)
        : m_model(model),
          m_capacity(static_cast<std::size_t>(setup.workers) * static_cast<std::size_t>(setup.prefetchFactor)),
          m_threads(computeThreads), m_sharing(sharing), m_workers(static_cast<std::size_t>(setup.workers)),
          m_ready(m_capacity, false)
    {
    }

    /// Mean time between the ends of steps, after the pipeline has filled.
    double stepUs()
    {
        const std::size_t warmup = m_capacity + m_workers.size() + 1;
        const std::size_t steps =
            std::clamp(std::max(m_model.loadUs.size(), m_model.computeUs.size()), kLeastSteps, kMostSteps);
        double begin = 0;
        while (m_done < warmup + steps) {
            assign();
            advance();
            if (m_done == warmup && begin == 0)
                begin = m_now;
        }
        return (m_now - begin) / static_cast<double>(steps);
    }

private:
    struct Worker {
        bool busy = false;
        std::size_t batch = 0;
        double left = 0;
    };

    void assign()
    {
        if (!m_computing && m_ready[m_taken % m_capacity]) {
            m_ready[m_taken % m_capacity] = false;
            m_left = m_model.computeUs[m_taken % m_model.computeUs.size()];
            m_computing = true;
            ++m_taken;
        }
        for (Worker& worker : m_workers)
            if (!worker.busy && m_issued < m_taken + m_capacity) {
                worker = {true, m_issued, m_model.loadUs[m_issued % m_model.loadUs.size()]};
                ++m_issued;
            }
    }

    /// Share of full speed at which everything currently runs.
    [[nodiscard]] double rate() const
    {
        double wanted = m_computing ? m_threads : 0;
        for (const Worker& worker : m_workers)
            wanted += worker.busy ? m_model.loadCpuShare : 0;
        if (m_model.cores == 0 && m_sharing == CoreSharing::Even)
            return 1;
        const double cores = std::max(m_model.cores, 1);
        if (wanted <= cores)
            return 1;
        return m_sharing == CoreSharing::Even ? cores / wanted : 1 / std::ceil(wanted / cores);
    }

    void advance()
    {
        double left = m_computing ? m_left : std::numeric_limits<double>::infinity();
        for (const Worker& worker : m_workers)
            if (worker.busy)
                left = std::min(left, worker.left);
        m_now += left / rate();
        for (Worker& worker : m_workers)
            if (worker.busy && (worker.left -= left) <= 0) {
                worker.busy = false;
                m_ready[worker.batch % m_capacity] = true;
            }
        if (m_computing && (m_left -= left) <= 0) {
            m_computing = false;
            ++m_done;
        }
    }

    const InputModel& m_model;
    std::size_t m_capacity;
    int m_threads;
    CoreSharing m_sharing;
    std::vector<Worker> m_workers;
    std::vector<bool> m_ready; ///< by batch modulo capacity
    bool m_computing = false;
    double m_left = 0, m_now = 0;
    std::size_t m_issued = 0, m_taken = 0, m_done = 0;
};

/// The 90th percentile of a thread's times relative to their mean, at least 1.
double slowTenth(const std::vector<double>& us)
{
    const double typical = mean(us);
    return typical > 0 ? std::max(1.0, percentile(us, 0.9) / typical) : 1;
}

/// A model in which every thread is always as slow as in its slowest tenth.
InputModel disturbed(InputModel model)
{
    const double load = slowTenth(model.loadUs), compute = slowTenth(model.computeUs);
    for (double& us : model.loadUs)
        us *= load;
    for (double& us : model.computeUs)
        us *= compute;
    return model;
}

InputPrediction predictOnce(const InputModel& model, LoaderSetup now, LoaderSetup then, int computeThreads)
{
    const auto saved = [&](CoreSharing sharing, const InputModel& after) {
        const double stepBefore = replayStepUs(model, now, computeThreads, sharing);
        const double stepAfter = replayStepUs(after, then, computeThreads, sharing);
        return stepBefore > 0 ? std::min((stepBefore - stepAfter) * model.stepUs / stepBefore, model.waitUs) : 0;
    };
    const double best = saved(CoreSharing::Even, model);
    const double worst = saved(CoreSharing::Barrier, then.workers > now.workers ? disturbed(model) : model);
    const double middle = (best + worst) / 2;
    return {std::min(best, worst), middle, std::max(best, worst), middle};
}

/// Of the mean; 0 for fewer than two values.
double twoStandardErrors(const std::vector<double>& values)
{
    if (values.size() < 2)
        return 0;
    const auto count = static_cast<double>(values.size());
    double squares = 0;
    for (const double value : values)
        squares += (value - mean(values)) * (value - mean(values));
    return 2 * std::sqrt(squares / (count - 1) / count);
}

/// The statistical error of a prediction from few batches: two standard errors, estimated from separate predictions for
/// the four quarters of the recording.
double errorByQuarters(const InputModel& model, LoaderSetup now, LoaderSetup then, int computeThreads)
{
    constexpr std::size_t kParts = 4, kFewest = 5;
    const std::size_t loads = model.loadUs.size() / kParts, computes = model.computeUs.size() / kParts;
    if (std::min(loads, computes) < kFewest)
        return 0;
    const auto part = [](const std::vector<double>& us, std::size_t count, std::size_t index) {
        const auto begin = us.begin() + static_cast<std::ptrdiff_t>(count * index);
        return std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(count));
    };
    std::vector<double> mids;
    for (std::size_t i = 0; i < kParts; ++i) {
        InputModel quarter = model;
        quarter.loadUs = part(model.loadUs, loads, i);
        quarter.computeUs = part(model.computeUs, computes, i);
        quarter.waitUs = std::numeric_limits<double>::infinity(); // unlimited, because the wait of a quarter is unknown
        mids.push_back(predictOnce(quarter, now, then, computeThreads).midUs);
    }
    return twoStandardErrors(mids);
}

} // namespace

InputModel loadModel(const Trace& trace, const std::vector<Step>& steps, const InputWait& input)
{
    InputModel model;
    model.workers = input.workers;
    model.cores = input.cores;
    model.stepUs = stepStatistics(steps).steadyMeanUs;
    model.waitUs = input.idleWaitUsPerStep;
    std::vector<double> waits;
    for (const Step& step : steps)
        if (isSteady(step)) {
            model.computeUs.push_back(toUs(step.range.duration() - step.parts.dataWait));
            waits.push_back(toUs(step.parts.dataWait));
        }
    model.waitErrorUs = twoStandardErrors(waits);
    if (const auto recorded = trace.metadata().find("loader.load_cpu_share"); recorded != trace.metadata().end())
        if (const double share = std::strtod(recorded->second.c_str(), nullptr); share >= 0 && share <= 1)
            model.loadCpuShare = share;
    for (const LoadedBatch& batch : loadedBatches(trace, steps))
        model.loadUs.push_back(toUs(batch.work));
    return model;
}

double replayStepUs(const InputModel& model, LoaderSetup setup, int computeThreads, CoreSharing sharing)
{
    if (!model.canPredict())
        return 0;
    if (setup.workers <= 0)
        return mean(model.loadUs) + mean(model.computeUs);
    setup.prefetchFactor = std::max(setup.prefetchFactor, 1);
    return Replay(model, setup, std::max(computeThreads, 1), sharing).stepUs();
}

InputPrediction predictInput(const InputModel& model, LoaderSetup now, LoaderSetup then, int computeThreads)
{
    if (!model.canPredict())
        return {};
    InputPrediction prediction = predictOnce(model, now, then, computeThreads);
    const double error = std::max(errorByQuarters(model, now, then, computeThreads), model.waitErrorUs);
    prediction.lowUs -= error;
    // Noise may hide a part of the saving, but the saving cannot exceed the wait.
    prediction.highUs = std::min(prediction.highUs + error, model.waitUs + model.waitErrorUs);
    prediction.midUs = (prediction.lowUs + prediction.highUs) / 2;
    return prediction;
}

} // namespace profiler::analysis
