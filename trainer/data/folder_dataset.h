#pragma once

#include "trainer/data/dataset.h"
#include "trainer/data/image_sample.h"
#include "trainer/data/image_tree.h"

namespace trainer::data {

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
