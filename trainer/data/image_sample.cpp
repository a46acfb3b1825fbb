#include "trainer/data/image_sample.h"

#include "trainer/data/image_decoder.h"
#include "trainer/data/stage_timer.h"

#include <algorithm>

namespace trainer::data {

namespace {

/// Memory that a thread reuses from sample to sample.
struct Workspace {
    ImageDecoder decoder;
    RgbImage image;
};

/// Reads the header, chooses the crop, then decodes at the lowest resolution that the crop allows.
profiler::Result<CropBox> decode(Workspace& space, std::span<const std::uint8_t> file, std::uint64_t augmentSeed,
                                 int edge)
{
    const auto full = space.decoder.measure(file);
    if (!full)
        return tl::unexpected(full.error());
    const CropBox whole{0, 0, static_cast<double>(full->width), static_cast<double>(full->height), false};
    const CropBox box = augmentSeed == kWholeImage ? whole
                        : augmentSeed != 0         ? randomCrop(*full, augmentSeed)
                                                   : centreCrop(*full);
    const double needed = std::max(edge / box.width, edge / box.height);
    const auto scale = space.decoder.decode(file, needed, space.image);
    if (!scale)
        return tl::unexpected(scale.error());
    return CropBox{box.x * *scale, box.y * *scale, box.width * *scale, box.height * *scale, box.flip};
}

} // namespace

profiler::Result<void> loadImage(std::span<const std::uint8_t> file, const ImageView& view, std::uint64_t augmentSeed,
                                 std::int64_t index, std::span<float> out, const StageRecorder& stages)
{
    thread_local Workspace space;
    profiler::Result<CropBox> box;
    {
        const StageTimer timer(stages, stages.decode, index);
        box = decode(space, file, augmentSeed, view.edge);
    }
    if (!box)
        return tl::unexpected(std::move(box.error()));
    const StageTimer timer(stages, stages.augment, index);
    resample(space.image, *box, view.edge, view.normalisation, out);
    return {};
}

} // namespace trainer::data
