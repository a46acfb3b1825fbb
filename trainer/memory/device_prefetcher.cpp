#include "trainer/memory/device_prefetcher.h"

#include "trainer/memory/device_augment.h"

#include <ATen/ATen.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <deque>
#include <exception>

namespace trainer {

namespace key = config::key;

bool augmentsOnDevice(const config::TrainingConfig& config, const data::SampleSpec& spec)
{
    return config[key::augmentOnDevice] && config[key::augment] && spec.augment.kind != data::BatchAugment::Kind::None;
}

// Copies on a separate stream, so that the device can compute at the same time.
struct DevicePrefetcher::Stream {
    explicit Stream(at::Device device) : guard(device.type()), own(guard.getStreamFromGlobalPool(device)) {}

    // Releases the tensors of finished copies, so that the loader can reuse their memory.
    void releaseCopied()
    {
        while (!onTheWay.empty() && onTheWay.front().copied.query())
            onTheWay.pop_front();
    }

    struct OnTheWay {
        BatchTensors batch;
        c10::Event copied;
    };
    c10::impl::VirtualGuardImpl guard;
    c10::Stream own;
    std::deque<OnTheWay> onTheWay;
};

DevicePrefetcher::DevicePrefetcher(const config::TrainingConfig& config, const data::SampleSpec& spec,
                                   at::Device device)
    : m_spec(spec), m_device(device),
      m_format(config[key::memoryFormat] == "channels_last" ? at::MemoryFormat::ChannelsLast
                                                            : at::MemoryFormat::Contiguous),
      m_share(config[key::shareMemory]),
      m_nonBlocking(config[key::nonBlocking] && config[key::pinMemory] && !device.is_cpu()),
      m_createOnDevice(config[key::createOnDevice]), m_augmentOnDevice(augmentsOnDevice(config, spec)),
      m_noise(config[key::noise])
{
    if (m_nonBlocking)
        m_stream = std::make_unique<Stream>(device);
}

DevicePrefetcher::~DevicePrefetcher()
{
    if (!m_stream)
        return;
    try {
        m_stream->own.synchronize();
    } catch (const std::exception&) {
        // The device has failed, which also ends the training: no copy is in flight any more.
    }
}

BatchTensors DevicePrefetcher::copied(const BatchTensors& batch)
{
    if (!m_stream)
        return placed(batch, m_device, m_format);
    BatchTensors there;
    there.count = batch.count;
    {
        const c10::StreamGuard guard(m_stream->own);
        for (const at::Tensor& input : batch.inputs)
            there.inputs.push_back(input.to(m_device, input.scalar_type(), true));
        there.target = batch.target.to(m_device, batch.target.scalar_type(), true);
    }
    c10::Event done(m_device.type());
    done.record(m_stream->own);
    const c10::Stream computing = m_stream->guard.getStream(m_device);
    done.block(computing);
    // The allocator must not reuse this memory on the copy stream while the training still reads it.
    for (at::Tensor& input : there.inputs) {
        input.record_stream(computing);
        input = input.contiguous(formatFor(input.dim(), m_format));
    }
    there.target.record_stream(computing);
    m_stream->releaseCopied();
    m_stream->onTheWay.push_back({batch, std::move(done)});
    return there;
}

void DevicePrefetcher::addNoise(BatchTensors& batch) const
{
    at::Tensor& input = batch.inputs[0];
    if (m_noise == 0 || !input.is_floating_point())
        return;
    // The noise is drawn on the host and copied in the same way as the batch.
    const at::Tensor noise =
        m_createOnDevice
            ? at::randn(input.sizes(), input.options())
            : at::randn(input.sizes(), input.options().device(at::kCPU)).to(m_device, input.scalar_type(), false, true);
    input = input.add(noise, m_noise);
}

namespace {

// Copies like a collate function: into page-locked memory if the batch is in such memory; otherwise the copy to the
// device would be slow.
at::Tensor copyOf(const at::Tensor& tensor, bool pinned)
{
    if (!pinned)
        return tensor.clone();
    return at::empty(tensor.sizes(), tensor.options().pinned_memory(true)).copy_(tensor);
}

} // namespace

BatchTensors DevicePrefetcher::place(const data::Batch& batch, bool train, std::uint64_t seed)
{
    BatchTensors tensors = viewOf(batch, m_spec);
    if (!m_share) {
        for (at::Tensor& input : tensors.inputs)
            input = copyOf(input, batch.pinned);
        tensors.target = copyOf(tensors.target, batch.pinned);
    }
    BatchTensors there = copied(tensors);
    if (!train)
        return there;
    if (m_augmentOnDevice) {
        augment(there, m_spec, seed);
        there.inputs[0] = there.inputs[0].contiguous(formatFor(there.inputs[0].dim(), m_format));
    }
    addNoise(there);
    return there;
}

} // namespace trainer
