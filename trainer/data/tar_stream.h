#pragma once

#include "trainer/data/archive.h"
#include "trainer/data/dataset.h"
#include "trainer/data/image_sample.h"

#include <filesystem>
#include <memory>
#include <vector>

namespace trainer::data {

/// A sequence of tar files that contain images and one text file per image with its class: "0012.jpg" and "0012.cls"
/// (WebDataset's layout).
struct TarShards {
    std::vector<std::filesystem::path> files;
    std::vector<std::int64_t> samples; ///< per file

    [[nodiscard]] std::int64_t total() const;
};

/// Counts the samples in each file by reading its headers. The error names the file.
profiler::Result<TarShards> countShards(std::vector<std::filesystem::path> files);

/// A stream of images. Each loading thread reads the files itself, sequentially, and skips the samples of other
/// threads.
class TarStream final : public Dataset {
public:
    TarStream(TarShards train, TarShards validation, std::int64_t classes, const ImageView& view);

    [[nodiscard]] const SampleSpec& spec() const override { return m_spec; }
    [[nodiscard]] std::int64_t size(Split split) const override { return of(split).total(); }
    [[nodiscard]] bool isStream() const override { return true; }
    profiler::Result<void> load(Split split, std::int64_t index, std::uint64_t augmentSeed, const SampleOut& out,
                                const StageRecorder& stages) const override;

private:
    [[nodiscard]] const TarShards& of(Split split) const { return split == Split::Train ? m_train : m_validation; }

    TarShards m_train, m_validation;
    std::int64_t m_classes;
    ImageView m_view;
    SampleSpec m_spec;
    std::int64_t m_id; ///< distinguishes this stream's readers from those of others
};

} // namespace trainer::data
