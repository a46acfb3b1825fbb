#pragma once

#include "trainer/config/training_config.h"
#include "trainer/memory/batch_memory.h"

#include <c10/core/Event.h>
#include <functional>
#include <optional>

namespace trainer {

/// Whether batches of this dataset are augmented on the device instead of in the loader.
bool augmentsOnDevice(const config::TrainingConfig& config, const data::SampleSpec& spec);

/// Prepares a loaded batch for the model: tensors on the loader's memory or copies, noise, augmentation, the copy to
/// the device. Single-threaded.
class DevicePrefetcher {
public:
    DevicePrefetcher(const config::TrainingConfig& config, const data::SampleSpec& spec, at::Device device);
    ~DevicePrefetcher();

    /// The batch on the model's device. Work queued afterwards on the device's current stream may use it.
    /// @param train  a training batch: adds noise and augments on the device
    /// @param seed  of this batch's augmentation on the device
    BatchTensors place(const data::Batch& batch, bool train, std::uint64_t seed);
    /// Whether copies are asynchronous: it then pays to place a batch before it is needed.
    [[nodiscard]] bool isAsynchronous() const { return m_stream != nullptr; }

private:
    BatchTensors copied(const BatchTensors& batch);
    void addNoise(BatchTensors& batch) const;

    data::SampleSpec m_spec;
    at::Device m_device;
    at::MemoryFormat m_format;
    bool m_share, m_nonBlocking, m_createOnDevice, m_augmentOnDevice;
    double m_noise;
    struct Stream;
    std::unique_ptr<Stream> m_stream; // for asynchronous copies; null: none
};

} // namespace trainer
