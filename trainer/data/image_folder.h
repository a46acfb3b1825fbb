#pragma once

#include "profiler/model/result.h"
#include "trainer/data/dataset.h"
#include "trainer/data/image.h"

#include <cstdint>
#include <filesystem>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

/// Datasets of image files in folders, one folder per class.
namespace trainer::data {

/// How image files are prepared for the model.
struct ImageView {
    int edge = 0; ///< px
    Normalisation normalisation = kImageNet;
};

/// Decodes a JPEG or PNG file at the smallest sufficient scale, crops (at random with a seed, otherwise at the centre),
/// resizes, flips and normalises it. Thread-safe.
/// @param index  of the sample, for the recorded stages
/// @param out  3 × edge × edge
/// @return the error describes the problem; the caller adds the file
profiler::Result<void> loadImage(std::span<const std::uint8_t> file, const ImageView& view, std::uint64_t augmentSeed,
                                 std::int64_t index, std::span<float> out, const StageRecorder& stages);

/// Image files grouped into classes by their folders.
struct ImageTree {
    struct File {
        std::int64_t label = 0; ///< index into classes
        std::string name;
    };
    struct Files {
        std::filesystem::path folder; ///< contains one folder per class
        std::vector<File> files;      ///< by class, then by name
    };
    std::vector<std::string> classes; ///< names of the class folders, sorted
    Files train, validation;
    std::vector<profiler::Message> notices; ///< notices for the user, one sentence each

    [[nodiscard]] const Files& of(Split split) const { return split == Split::Train ? train : validation; }
    [[nodiscard]] std::filesystem::path path(Split split, std::int64_t index) const;
};

/// True for *.jpg, *.jpeg and *.png in upper or lower case, except hidden files.
bool isImageName(std::string_view name);

/// Finds the images under `root`: root/{train,val}/<class>/<image> if these two exist; otherwise root/<class>/<image>,
/// with `validationShare` of each class held out for validation: the files with the smallest hash of their name, the
/// same on every machine. A class keeps at least one file for training.
/// @param progress  may be empty
profiler::Result<ImageTree> scanImageTree(const std::filesystem::path& root, double validationShare,
                                          const OpenProgress& progress, std::stop_token stop);

/// Images of an ImageTree: read, decoded at the smallest sufficient scale, cropped (at random for training, at the
/// centre for validation), resized, flipped, normalised.
class FolderDataset final : public Dataset {
public:
    /// @param edge  of the images that load() returns, px
    /// @param normalise  with ImageNet's statistics; otherwise values are from 0 to 1
    FolderDataset(ImageTree tree, int edge, bool normalise = true)
        : m_tree(std::move(tree)), m_view{edge, normalise ? kImageNet : kUnchanged},
          m_spec(imageSpec(3, edge, edge, std::ssize(m_tree.classes)))
    {
        m_spec.augment.kind = BatchAugment::Kind::Crop;
    }

    [[nodiscard]] const SampleSpec& spec() const override { return m_spec; }
    [[nodiscard]] std::int64_t size(Split split) const override { return std::ssize(m_tree.of(split).files); }
    [[nodiscard]] std::vector<std::string> classNames() const override { return m_tree.classes; }
    [[nodiscard]] std::vector<profiler::Message> notices() const override { return m_tree.notices; }
    profiler::Result<void> load(Split split, std::int64_t index, std::uint64_t augmentSeed, const SampleOut& out,
                                const StageRecorder& stages) const override;

private:
    ImageTree m_tree;
    ImageView m_view;
    SampleSpec m_spec;
};

} // namespace trainer::data
