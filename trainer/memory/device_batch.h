#pragma once

#include "trainer/config/training_config.h"
#include "trainer/data/loader.h"

#include <ATen/core/Tensor.h>
#include <c10/core/Event.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

/// A batch as tensors, and its way from the loader's memory to the model's device, where it may be augmented.
namespace trainer {

/// A batch as the model's input: the first dimension of each tensor is the sample index; the other dimensions and the
/// element types are those of the dataset's spec.
struct BatchTensors {
    std::vector<at::Tensor> inputs;
    at::Tensor target;
    std::int64_t count = 0;

    [[nodiscard]] std::int64_t bytes() const;
};

/// The batch's own memory as tensors, without a copy. The memory returns to the loader when the last tensor is
/// destroyed.
BatchTensors viewOf(const data::Batch& batch, const data::SampleSpec& spec);
/// The batch on the device, with images in the model's memory format; returns the tensors of `batch` if they already
/// match.
BatchTensors placed(const BatchTensors& batch, at::Device device, at::MemoryFormat format);
/// `format` for a tensor with this many dimensions: four (images) and five (3D convolutions) have a channels-last
/// format, other tensors none.
at::MemoryFormat formatFor(std::int64_t dimensions, at::MemoryFormat format);
/// Page-locked memory for batches; requires a GPU.
data::BufferAllocator pinnedAllocator();

/// Augments a batch on its own device according to SampleSpec::augment: the distribution is the loader's, and each
/// sample's random choices depend only on the seed.
void augment(BatchTensors& batch, const data::SampleSpec& spec, std::uint64_t seed);

/// Crops and flips each image at random, like the loader on the CPU: same area, aspect ratios, positions and flips
/// (data::randomCrop), with bilinear resampling.
/// @param images  samples × channels × height × width, uncropped
at::Tensor cropped(const at::Tensor& images, std::uint64_t seed);

/// Shifts each image by whole pixels, and flips half of them if `how` says so.
/// @param images  samples × channels × height × width
at::Tensor shifted(const at::Tensor& images, const data::BatchAugment& how, std::uint64_t seed);

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
