#include "trainer/memory/device_augment.h"

#include "trainer/data/image.h"
#include "trainer/data/random.h"

#include <ATen/ATen.h>

namespace trainer {

at::Tensor augmented(const at::Tensor& images, std::uint64_t seed)
{
    const at::NoGradGuard noGradients;
    const std::int64_t count = images.size(0);
    const auto height = static_cast<double>(images.size(2)), width = static_cast<double>(images.size(3));
    // A map for each image from the place in the result, -1 … 1, to the place in the picture: a few numbers, made on
    // the host from the loader's own dice.
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
    const at::Tensor grid = at::affine_grid_generator(maps.to(images.device()), images.sizes(), false);
    constexpr std::int64_t kBilinear = 0, kBorder = 1;
    return at::grid_sampler(images, grid, kBilinear, kBorder, false);
}

} // namespace trainer
