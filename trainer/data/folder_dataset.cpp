#include "trainer/data/folder_dataset.h"

#include "trainer/data/file_bytes.h"
#include "trainer/data/stage_timer.h"

namespace trainer::data {

profiler::Result<void> FolderDataset::load(Split split, std::int64_t index, std::uint64_t augmentSeed,
                                           const SampleOut& out, const StageRecorder& stages) const
{
    thread_local std::vector<std::uint8_t> file;
    const std::filesystem::path path = m_tree.path(split, index);
    {
        StageTimer timer(stages, stages.read, index);
        if (auto ok = readFile(path, file); !ok)
            return ok;
        timer.setBytes(std::ssize(file));
    }
    if (auto loaded = loadImage(file, m_view, augmentSeed, index, out.input<float>(), stages); !loaded) {
        loaded.error().where = path.string();
        return loaded;
    }
    out.setClass(m_tree.of(split).files[static_cast<std::size_t>(index)].label);
    return {};
}

} // namespace trainer::data
