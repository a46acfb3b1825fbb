#include "trainer/memory/device_augment.h"

#include "trainer/data/image.h"
#include "trainer/data/random.h"

#include <ATen/ATen.h>
#include <algorithm>

namespace trainer {

namespace {

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

} // namespace

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

} // namespace trainer
