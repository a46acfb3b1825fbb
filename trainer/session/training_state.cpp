#include "trainer/session/training.h"

#include "profiler/model/failure.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <algorithm>
#include <cstddef>
#include <mutex>

// Saves and restores the state of a training.
namespace trainer {

namespace key = config::key;

namespace {

// Settings that must be equal in the saved training and in the run that resumes it.
const config::Key<std::string> kSame[] = {key::workload, key::optimizer, key::dataset};

std::vector<std::pair<std::string, at::Generator>> generators(at::Device device)
{
    std::vector<std::pair<std::string, at::Generator>> all = {{"generator.cpu", at::detail::getDefaultCPUGenerator()}};
    if (!device.is_cpu())
        all.emplace_back("generator.device", at::globalContext().defaultGenerator(device));
    return all;
}

// Each rank draws its own random numbers.
std::string ofRank(const std::string& name, std::int64_t rank)
{
    return rank == 0 ? name : name + ".rank" + std::to_string(rank);
}

} // namespace

// Saves the generators of every rank; the first rank gets all of them.
void Training::saveGenerators(SavedState& state) const
{
    for (auto& [name, generator] : generators(m_trainStep.device())) {
        at::Tensor own;
        {
            const std::lock_guard lock(generator.mutex());
            own = generator.get_state();
        }
        if (!m_group) {
            state.tensors.emplace(name, own);
            continue;
        }
        // All other ranks contribute zeros, so the sum of each byte is its value.
        const auto bytes = static_cast<std::size_t>(own.numel());
        std::vector<double> all(bytes * static_cast<std::size_t>(m_group->size()));
        std::copy_n(own.const_data_ptr<std::uint8_t>(), bytes,
                    all.begin() + static_cast<std::ptrdiff_t>(bytes) * m_group->rank());
        m_group->addUp(all);
        for (std::int64_t rank = 0; rank < m_group->size(); ++rank) {
            at::Tensor theirs = at::empty_like(own);
            std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(bytes) * rank, bytes,
                        theirs.mutable_data_ptr<std::uint8_t>());
            state.tensors.emplace(ofRank(name, rank), theirs);
        }
    }
}

// A rank that the saved training did not have starts from its seed.
void Training::restoreGenerators(const SavedState& state) const
{
    for (auto& [name, generator] : generators(m_trainStep.device()))
        if (const auto found = state.tensors.find(ofRank(name, m_group ? m_group->rank() : 0));
            found != state.tensors.end()) {
            const std::lock_guard lock(generator.mutex());
            generator.set_state(found->second);
        }
}

SavedState Training::save()
{
    SavedState state;
    saveGenerators(state);
    if (m_group && m_group->rank() != 0)
        return state;
    for (const auto& name : kSame)
        state.texts.emplace(name.name, m_config[name]);
    m_trainStep.save(state);
    state.numbers = {{"step", static_cast<double>(m_steps)},
                     {"samples", static_cast<double>(m_samples)},
                     {"epoch", static_cast<double>(m_epoch)},
                     {"batches", static_cast<double>(m_loader.batchesPerEpoch() - m_batchesLeft)},
                     {"batch size", static_cast<double>(m_config[key::batchSize])},
                     {"validations", static_cast<double>(m_validations)}};
    return state;
}

std::shared_future<std::vector<double>> Training::metricsState()
{
    auto sums = m_metrics.state();
    if (!m_group)
        return sums;
    std::vector<double> all = sums.get();
    m_group->addUp(all);
    std::promise<std::vector<double>> known;
    known.set_value(std::move(all));
    return known.get_future().share();
}

void Training::addMetrics(SavedState& state, const std::vector<double>& sums)
{
    for (std::size_t i = 0; i < sums.size(); ++i)
        state.numbers.emplace("meter." + std::to_string(i), sums[i]);
}

void Training::restore(const SavedState& state)
{
    for (const auto& name : kSame) {
        const auto found = state.texts.find(std::string(name.name));
        if (found == state.texts.end() || found->second != m_config[name])
            profiler::throwError<"checkpoint.other_configuration",
                                 "The checkpoint belongs to a training with {key} = {saved}; this training has {key} = "
                                 "{value}">(profiler::Error::Code::Invalid, {},
                                            "change the configuration, or choose another checkpoint with run.resume",
                                            {{"key", name.name},
                                             {"saved", found == state.texts.end() ? "(unknown)" : found->second},
                                             {"value", m_config[name]}});
    }
    m_trainStep.restore(state);
    restoreGenerators(state);
    m_steps = state.integer("step");
    m_samples = state.integer("samples");
    m_validations = state.integer("validations");
    m_epoch = state.integer("epoch");
    const std::int64_t done = state.integer("batches");
    // With another batch size the position within the epoch is meaningless: the next epoch begins.
    if (state.integer("batch size") != m_config[key::batchSize] || done > m_loader.batchesPerEpoch())
        return;
    if (done == m_loader.batchesPerEpoch()) {
        m_epochEndDue = true;
    } else {
        --m_epoch; // beginEpoch() increments it again
        m_skipBatches = done;
    }
    if (m_group && m_group->rank() != 0)
        return; // the sums are over all ranks
    std::vector<double> sums;
    for (std::size_t i = 0; i < m_metrics.state().get().size(); ++i)
        sums.push_back(state.number("meter." + std::to_string(i)));
    m_metrics.setState(sums);
}

} // namespace trainer
