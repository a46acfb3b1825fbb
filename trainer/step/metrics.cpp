#include "trainer/step/metrics.h"

#include "profiler/model/activity.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

namespace trainer {

namespace {

// Each pending item holds the predictions of one batch.
constexpr std::size_t kMostOutstanding = 2;

bool isReady(const std::shared_future<double>& loss)
{
    return loss.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

} // namespace

void Meter::add(const TrainStep::Output& output, std::int64_t samples)
{
    const at::NoGradGuard noGradients;
    const Measured measured = measure(m_objective, output.pass, output.loss);
    const bool first = m_unread == 0;
    m_loss = first ? output.loss * samples : m_loss.add(output.loss, samples);
    m_sum = first ? measured.sum : m_sum.add(measured.sum);
    if (measured.weight.defined())
        m_weight = first ? measured.weight : m_weight.add(measured.weight);
    m_count += measured.count;
    m_unread += samples;
}

double Meter::read()
{
    if (m_unread == 0)
        return 0;
    const double loss = m_loss.item<double>();
    m_lossRead += loss;
    m_sumRead += m_sum.item<double>();
    m_weightRead += m_weight.defined() ? m_weight.item<double>() : std::exchange(m_count, 0);
    m_samplesRead += m_unread;
    return loss / static_cast<double>(std::exchange(m_unread, 0));
}

std::vector<double> Meter::state()
{
    read();
    return {m_lossRead, m_sumRead, m_weightRead, static_cast<double>(m_samplesRead)};
}

void Meter::setState(const std::vector<double>& sums)
{
    m_lossRead = sums.at(0);
    m_sumRead = sums.at(1);
    m_weightRead = sums.at(2);
    m_samplesRead = static_cast<std::int64_t>(sums.at(3));
}

Meter::Means Meter::take(ProcessGroup* group)
{
    std::vector<double> sums = state();
    setState({0, 0, 0, 0});
    if (group)
        group->addUp(sums);
    return {sums[0] / std::max(sums[3], 1.0), metricValue(m_objective, sums[1], sums[2])};
}

Metrics::Metrics(Objective objective, bool apart, Recording& recording)
    : m_recording(recording), m_apart(apart), m_meter(objective),
      m_work(apart, recording.events(), "metrics", kMostOutstanding)
{
}

Metrics::~Metrics() = default;

template <class Value>
std::shared_future<Value> Metrics::later(std::function<Value()> work)
{
    auto promise = std::make_shared<std::promise<Value>>();
    const auto piece = [promise, work = std::move(work)] {
        try {
            promise->set_value(work());
        } catch (...) {
            promise->set_exception(std::current_exception());
        }
    };
    if (m_apart) {
        m_work.give(profiler::phase::kMetrics, piece);
    } else {
        const PhaseRange phase(m_recording, Phase::Metrics);
        piece();
    }
    return promise->get_future().share();
}

void Metrics::add(TrainStep::Output output, std::int64_t samples)
{
    if (m_apart) {
        m_work.give(profiler::phase::kMetrics,
                    [this, output = std::move(output), samples] { m_meter.add(output, samples); });
        return;
    }
    const PhaseRange phase(m_recording, Phase::Metrics);
    m_meter.add(output, samples);
}

std::shared_future<double> Metrics::addAndRead(TrainStep::Output output, std::int64_t samples)
{
    auto loss = later<double>([this, output = std::move(output), samples] {
        m_meter.add(output, samples);
        return m_meter.read();
    });
    m_unsampled.push_back(loss);
    sample();
    return loss;
}

std::shared_future<double> Metrics::read()
{
    auto loss = later<double>([this] { return m_meter.read(); });
    m_unsampled.push_back(loss);
    sample();
    return loss;
}

void Metrics::sample()
{
    for (; !m_unsampled.empty() && isReady(m_unsampled.front()); m_unsampled.pop_front())
        m_recording.sampleLoss(m_unsampled.front().get());
    if (const auto error = m_work.takeError())
        std::rethrow_exception(error);
}

void Metrics::finish()
{
    m_work.finish();
    sample();
}

Meter::Means Metrics::take(ProcessGroup* group)
{
    finish();
    return m_meter.take(group);
}

std::shared_future<std::vector<double>> Metrics::state()
{
    return later<std::vector<double>>([this] { return m_meter.state(); });
}

void Metrics::setState(const std::vector<double>& sums)
{
    finish();
    m_meter.setState(sums);
}

} // namespace trainer
