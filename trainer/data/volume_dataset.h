#pragma once

#include "trainer/data/dataset.h"
#include "trainer/data/nifti_file.h"
#include "trainer/data/row_split.h"

#include <filesystem>
#include <memory>
#include <vector>

namespace trainer::data {

/// A volume and the classes of its voxels.
struct VolumeFiles {
    std::filesystem::path image, labels;
};

struct VolumeOptions {
    std::int64_t classes = 2, edge = 32; ///< edge: of the model's input cubes, voxels
    double validationShare = 0;
    bool normalise = true;
    bool placeOnly = false; ///< the loader only chooses the position; the device augments
};

/// Reads a .nii, .nii.gz or .npy file: three dimensions, or four with the channels last (NIfTI) or first (NumPy).
/// @param file, space  reused from call to call
profiler::Result<void> readVolume(const std::filesystem::path& path, std::span<const std::uint8_t> file,
                                  std::vector<std::uint8_t>& space, Volume& out);

/// Volumes in files; each sample reads the whole file, because volumes are too large to keep in memory.
class VolumeDataset final : public Dataset {
public:
    /// Reads the number of channels from the first volume. @param files  at least one
    static profiler::Result<std::shared_ptr<const Dataset>> make(std::vector<VolumeFiles> files,
                                                                 const VolumeOptions& options);

    [[nodiscard]] const SampleSpec& spec() const override { return m_spec; }
    [[nodiscard]] std::int64_t size(Split split) const override { return std::ssize(m_split.of(split)); }
    /// Cuts a cube out of a volume. Errors name the file, the sizes that differ, and the first voxel whose label is not
    /// a class.
    profiler::Result<void> load(Split split, std::int64_t index, std::uint64_t augmentSeed, const SampleOut& out,
                                const StageRecorder& stages) const override;

private:
    VolumeDataset(std::vector<VolumeFiles> files, const VolumeOptions& options, std::int64_t channels);
    struct Workspace;
    profiler::Result<void> read(Workspace& space, const VolumeFiles& files, std::int64_t index,
                                const StageRecorder& stages) const;

    std::vector<VolumeFiles> m_files;
    VolumeOptions m_options;
    RowSplit m_split;
    SampleSpec m_spec;
};

} // namespace trainer::data
