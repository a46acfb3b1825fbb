#pragma once

#include "trainer/config/training_config.h"
#include "trainer/memory/batch_memory.h"

#include <c10/core/Event.h>
#include <functional>
#include <optional>

namespace trainer {

/// Whether batches of this data set are augmented on the device instead of by the loader.
bool augmentsOnDevice(const config::TrainingConfig& config, const data::SampleSpec& spec);

/// What becomes of a loaded batch before the model gets it: tensors on its memory or in their own, noise, augmentation,
/// the copy to the device. One thread.
class DevicePrefetcher {
public:
    DevicePrefetcher(const config::TrainingConfig& config, const data::SampleSpec& spec, at::Device device);
    ~DevicePrefetcher();

    /// For the model, on its device. What is queued on the device's current stream after this may use it.
    /// @param train  a batch to train on: noise, and augmentation on the device
    /// @param seed  of this batch's augmentation on the device
    BatchTensors place(const data::Batch& batch, bool train, std::uint64_t seed);
    /// Whether copies run beside the training: a batch is best placed before it is needed.
    [[nodiscard]] bool runsBeside() const { return m_stream != nullptr; }

private:
    BatchTensors copied(const BatchTensors& batch);
    void addNoise(BatchTensors& batch) const;

    data::SampleSpec m_spec;
    at::Device m_device;
    at::MemoryFormat m_format;
    bool m_share, m_nonBlocking, m_createOnDevice, m_augmentOnDevice;
    double m_noise;
    struct Stream;
    std::unique_ptr<Stream> m_stream; // for copies that run beside the training; null: none
};

} // namespace trainer
