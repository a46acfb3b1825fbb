#include "trainer/memory/device_augment.h"

#include "trainer/data/image.h"
#include "trainer/data/random.h"
#include "trainer/data/volume_crop.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <mutex>

namespace trainer {

namespace {

// grid_sampler's values for interpolation and padding.
constexpr std::int64_t kLinear = 0, kNearest = 1, kBorder = 1;

// Uses a separate generator, because the device's default generator belongs to the model.
at::Tensor noiseLike(const at::Tensor& values, std::uint64_t seed)
{
    at::Generator generator = at::globalContext().defaultGenerator(values.device()).clone();
    {
        const std::lock_guard lock(generator.mutex());
        generator.set_current_seed(seed);
    }
    return at::randn(values.sizes(), generator, values.options());
}

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
    case data::BatchAugment::Kind::Turn:
        const Turned result = turned(first, batch.target, seed);
        first = result.volumes;
        batch.target = result.labels;
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

Turned turned(const at::Tensor& volumes, const at::Tensor& labels, std::uint64_t seed)
{
    const at::NoGradGuard noGradients;
    const std::int64_t count = volumes.size(0), edge = volumes.size(4);
    data::Volume cube;
    cube.size = {edge, edge, edge};
    // As in data::VolumeView: a step along an axis of the cube is a vector in the volume. Both are cubes of the same
    // size, so the same numbers apply from -1 to 1. grid_sampler numbers the axes from the last.
    const at::Tensor maps = at::zeros({count, 3, 4}, at::kFloat), changes = at::zeros({3, count}, at::kFloat);
    auto map = maps.accessor<float, 3>();
    auto change = changes.accessor<float, 2>();
    data::Random seeds(seed);
    for (std::int64_t i = 0; i < count; ++i) {
        const data::VolumeView view = data::randomView(cube, edge, seeds.bits());
        for (std::size_t to = 0; to < 3; ++to)
            for (std::size_t along = 0; along < 3; ++along)
                map[i][static_cast<std::int64_t>(2 - to)][static_cast<std::int64_t>(2 - along)] =
                    static_cast<float>(view.step[along][to]);
        change[0][i] = view.gain;
        change[1][i] = view.shift;
        change[2][i] = view.noise;
    }
    const at::Tensor grid =
        at::affine_grid_generator(onDevice(maps, volumes.device()), {count, 1, edge, edge, edge}, true);
    const at::Tensor there = onDevice(changes, volumes.device());
    const auto of = [&](std::int64_t which) { return there[which].view({-1, 1, 1, 1, 1}); };
    const at::Tensor values = at::grid_sampler(volumes, grid, kLinear, kBorder, true) * of(0) + of(1) +
                              noiseLike(volumes, seeds.bits()) * of(2);
    const at::Tensor nearest =
        at::grid_sampler(labels.unsqueeze(1).to(volumes.scalar_type()), grid, kNearest, kBorder, true);
    return {values, nearest.squeeze(1).to(labels.scalar_type())};
}

} // namespace trainer
