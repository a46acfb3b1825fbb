#include "trainer/memory/device_batch.h"

#include "trainer/data/image.h"
#include "trainer/data/random.h"

#include <ATen/ATen.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <deque>
#include <exception>
#include <stdexcept>

namespace trainer {

namespace key = config::key;

namespace {

at::ScalarType scalarType(data::Dtype dtype)
{
    switch (dtype) {
    case data::Dtype::Float32:
        return at::kFloat;
    case data::Dtype::Int64:
        return at::kLong;
    case data::Dtype::UInt8:
        return at::kByte;
    }
    throw std::logic_error("an element type that no tensor has");
}

// grid_sampler's values for interpolation and padding.
constexpr std::int64_t kLinear = 0, kBorder = 1;

// Copies from the host to the device through page-locked memory, because a copy from pageable memory waits for all of
// the device's work.
at::Tensor onDevice(const at::Tensor& made, at::Device device)
{
    return device.is_cuda() ? made.pin_memory().to(device, made.scalar_type(), true) : made.to(device);
}

// The source of each position in the shifted rows or columns, and whether it is inside the image.
struct Origin {
    at::Tensor place, inside;
};

/// @param shifts, mirrored  per image, on its device
Origin origins(std::int64_t size, const at::Tensor& shifts, const at::Tensor& mirrored)
{
    const at::Tensor along = at::arange(size, shifts.options()).unsqueeze(0);
    const at::Tensor place = at::where(mirrored.unsqueeze(1), size - 1 - along, along) + shifts.unsqueeze(1);
    return {place.clamp(0, size - 1), place.ge(0).logical_and(place.lt(size))};
}

// Copies like a collate function: into page-locked memory if the batch is in such memory; otherwise the copy to the
// device would be slow.
at::Tensor copyOf(const at::Tensor& tensor, bool pinned)
{
    if (!pinned)
        return tensor.clone();
    return at::empty(tensor.sizes(), tensor.options().pinned_memory(true)).copy_(tensor);
}

} // namespace

std::int64_t BatchTensors::bytes() const
{
    std::size_t sum = target.nbytes();
    for (const at::Tensor& input : inputs)
        sum += input.nbytes();
    return static_cast<std::int64_t>(sum);
}

BatchTensors viewOf(const data::Batch& batch, const data::SampleSpec& spec)
{
    const auto view = [&](std::byte* memory, const data::ArraySpec& array) {
        std::vector<std::int64_t> shape = {batch.count};
        shape.insert(shape.end(), array.shape.begin(), array.shape.end());
        return at::from_blob(
            memory, shape, [hold = batch.memory](void*) {}, scalarType(array.dtype));
    };
    BatchTensors tensors;
    tensors.count = batch.count;
    for (std::size_t i = 0; i < spec.inputs.size(); ++i)
        tensors.inputs.push_back(view(batch.memory->inputs[i], spec.inputs[i]));
    tensors.target = view(batch.memory->target, spec.target);
    return tensors;
}

at::MemoryFormat formatFor(std::int64_t dimensions, at::MemoryFormat format)
{
    if (format != at::MemoryFormat::ChannelsLast || dimensions == 4)
        return dimensions == 4 ? format : at::MemoryFormat::Contiguous;
    return dimensions == 5 ? at::MemoryFormat::ChannelsLast3d : at::MemoryFormat::Contiguous;
}

BatchTensors placed(const BatchTensors& batch, at::Device device, at::MemoryFormat format)
{
    // Blocking copies: the buffer returns to the loader as soon as the batch is released.
    BatchTensors there;
    there.count = batch.count;
    for (const at::Tensor& input : batch.inputs)
        there.inputs.push_back(input.to(device).contiguous(formatFor(input.dim(), format)));
    there.target = batch.target.to(device);
    return there;
}

data::BufferAllocator pinnedAllocator()
{
    return {[](std::size_t bytes) {
                const at::Tensor memory =
                    at::empty({static_cast<std::int64_t>(bytes)}, at::TensorOptions(at::kByte).pinned_memory(true));
                return std::shared_ptr<void>(memory.data_ptr(), [memory](void*) {});
            },
            true};
}

void augment(BatchTensors& batch, const data::SampleSpec& spec, std::uint64_t seed)
{
    at::Tensor& first = batch.inputs[0];
    switch (spec.augment.kind) {
    case data::BatchAugment::Kind::None:
        return;
    case data::BatchAugment::Kind::Crop:
        first = cropped(first, seed);
        return;
    case data::BatchAugment::Kind::Shift:
        first = shifted(first, spec.augment, seed);
        return;
    }
}

at::Tensor cropped(const at::Tensor& images, std::uint64_t seed)
{
    const at::NoGradGuard noGradients;
    const std::int64_t count = images.size(0);
    const auto height = static_cast<double>(images.size(2)), width = static_cast<double>(images.size(3));
    // An affine map per image from positions in the result, -1 … 1, to positions in the image: a few numbers, drawn on
    // the host from the loader's random generator.
    const at::Tensor maps = at::zeros({count, 2, 3}, at::kFloat);
    auto map = maps.accessor<float, 3>();
    data::Random seeds(seed);
    for (std::int64_t i = 0; i < count; ++i) {
        const data::CropBox box =
            data::randomCrop({static_cast<int>(images.size(3)), static_cast<int>(images.size(2))}, seeds.bits());
        const double scale = box.width / width * (box.flip ? -1 : 1);
        map[i][0][0] = static_cast<float>(scale);
        map[i][0][2] = static_cast<float>((2 * box.x + box.width) / width - 1);
        map[i][1][1] = static_cast<float>(box.height / height);
        map[i][1][2] = static_cast<float>((2 * box.y + box.height) / height - 1);
    }
    const at::Tensor grid = at::affine_grid_generator(onDevice(maps, images.device()), images.sizes(), false);
    return at::grid_sampler(images, grid, kLinear, kBorder, false);
}

at::Tensor shifted(const at::Tensor& images, const data::BatchAugment& how, std::uint64_t seed)
{
    const at::NoGradGuard noGradients;
    const std::int64_t count = images.size(0), height = images.size(2), width = images.size(3);
    const auto most = static_cast<std::uint32_t>(how.mostShift);
    const at::Tensor drawn = at::empty({3, count}, at::kLong); // right, down, flipped
    auto draw = drawn.accessor<std::int64_t, 2>();
    data::Random random(seed);
    for (std::int64_t i = 0; i < count; ++i) {
        draw[0][i] = static_cast<std::int64_t>(random.below(2 * most + 1)) - how.mostShift;
        draw[1][i] = static_cast<std::int64_t>(random.below(2 * most + 1)) - how.mostShift;
        draw[2][i] = how.mirrors && random.coin() ? 1 : 0;
    }
    const at::Tensor there = onDevice(drawn, images.device());
    const Origin columns = origins(width, there[0], there[2].ne(0));
    const Origin rows = origins(height, there[1], at::zeros_like(there[2], at::kBool));
    const at::Tensor column = columns.place.view({-1, 1, 1, width}).expand_as(images);
    const at::Tensor row = rows.place.view({-1, 1, height, 1}).expand_as(images);
    const at::Tensor inside = columns.inside.view({-1, 1, 1, width}).logical_and(rows.inside.view({-1, 1, height, 1}));
    const at::Tensor outside = onDevice(at::tensor(how.outside), images.device()).view({1, -1, 1, 1});
    return at::where(inside, images.gather(2, row).gather(3, column), outside);
}

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
