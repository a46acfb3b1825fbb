#include "trainer/loop/training.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <mutex>
#include <stdexcept>

// Where a training stands, out of it and into it again.
namespace trainer {

namespace key = config::key;

namespace {

// What the saved state must have in common with the run that goes on from it.
const config::Key<std::string> kSame[] = {key::workload, key::optimizer, key::dataset};

std::vector<std::pair<std::string, at::Generator>> generators(at::Device device)
{
    std::vector<std::pair<std::string, at::Generator>> all = {{"generator.cpu", at::detail::getDefaultCPUGenerator()}};
    if (!device.is_cpu())
        all.emplace_back("generator.device", at::globalContext().defaultGenerator(device));
    return all;
}

} // namespace

SavedState Training::save()
{
    SavedState state;
    for (const auto& name : kSame)
        state.texts.emplace(name.name, m_config[name]);
    m_learner.save(state);
    for (auto& [name, generator] : generators(m_learner.device())) {
        const std::lock_guard lock(generator.mutex());
        state.tensors.emplace(name, generator.get_state());
    }
    state.numbers = {{"step", static_cast<double>(m_steps)},
                     {"samples", static_cast<double>(m_samples)},
                     {"epoch", static_cast<double>(m_epoch)},
                     {"batches", static_cast<double>(m_loader.batchesPerEpoch() - m_batchesLeft)},
                     {"batch size", static_cast<double>(m_config[key::batchSize])},
                     {"validations", static_cast<double>(m_validations)}};
    return state;
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
            throw std::runtime_error("The checkpoint is of a training with " + std::string(name.name) + " = " +
                                     (found == state.texts.end() ? "?" : found->second) + ", not " + m_config[name]);
    }
    m_learner.restore(state);
    for (auto& [name, generator] : generators(m_learner.device()))
        if (const auto found = state.tensors.find(name); found != state.tensors.end()) {
            const std::lock_guard lock(generator.mutex());
            generator.set_state(found->second);
        }
    m_steps = state.integer("step");
    m_samples = state.integer("samples");
    m_validations = state.integer("validations");
    std::vector<double> sums;
    for (std::size_t i = 0; i < m_metrics.state().get().size(); ++i)
        sums.push_back(state.numbers.at("meter." + std::to_string(i)));
    m_metrics.setState(sums);
    m_epoch = state.integer("epoch");
    const std::int64_t done = state.integer("batches");
    // With another batch size the place within the epoch means nothing: the next epoch begins.
    const bool within = done < m_loader.batchesPerEpoch() && state.integer("batch size") == m_config[key::batchSize];
    if (within) {
        --m_epoch; // beginEpoch() counts it again
        m_skipBatches = done;
    }
}

} // namespace trainer
