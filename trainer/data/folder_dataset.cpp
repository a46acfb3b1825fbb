#include "trainer/data/folder_dataset.h"

#include "trainer/data/file_bytes.h"
#include "trainer/data/image_decoder.h"
#include "trainer/data/resample.h"
#include "trainer/data/stage_timer.h"

#include <algorithm>

namespace trainer::data {

namespace {

/// What a thread keeps from sample to sample.
struct Workspace {
    std::vector<std::uint8_t> file;
    ImageDecoder decoder;
    RgbImage image;
};

/// Reads the header, chooses the part of the picture, then decodes no finer than that part needs.
profiler::Result<CropBox> decode(Workspace& space, std::uint64_t augmentSeed, int edge)
{
    const auto full = space.decoder.measure(space.file);
    if (!full)
        return tl::unexpected(full.error());
    const CropBox box = augmentSeed != 0 ? randomCrop(*full, augmentSeed) : centreCrop(*full);
    const double needed = std::max(edge / box.width, edge / box.height);
    const auto scale = space.decoder.decode(space.file, needed, space.image);
    if (!scale)
        return tl::unexpected(scale.error());
    return CropBox{box.x * *scale, box.y * *scale, box.width * *scale, box.height * *scale, box.flip};
}

} // namespace

profiler::Result<void> FolderDataset::load(Split split, std::int64_t index, std::uint64_t augmentSeed,
                                           const SampleOut& out, const StageRecorder& stages) const
{
    thread_local Workspace space;
    const std::filesystem::path path = m_tree.path(split, index);
    {
        StageTimer timer(stages, stages.read, index);
        if (auto ok = readFile(path, space.file); !ok)
            return tl::unexpected(ok.error());
        timer.setBytes(std::ssize(space.file));
    }
    profiler::Result<CropBox> box;
    {
        const StageTimer timer(stages, stages.decode, index);
        box = decode(space, augmentSeed, m_edge);
    }
    if (!box) {
        box.error().where = path.string();
        return tl::unexpected(std::move(box.error()));
    }
    const StageTimer timer(stages, stages.augment, index);
    resample(space.image, *box, m_edge, kImageNet, out.input<float>());
    out.setClass(m_tree.of(split).files[static_cast<std::size_t>(index)].label);
    return {};
}

} // namespace trainer::data
