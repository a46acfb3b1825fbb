#pragma once

#include "trainer/data/archive.h"
#include "trainer/data/dataset.h"
#include "trainer/data/image_sample.h"

#include <filesystem>
#include <memory>
#include <vector>

namespace trainer::data {

/// Tar files, one after the other, of images each followed or preceded by a text file with its class: "0012.jpg" and
/// "0012.cls" (WebDataset's layout).
struct TarShards {
    std::vector<std::filesystem::path> files;
    std::vector<std::int64_t> samples; ///< in each of them

    [[nodiscard]] std::int64_t total() const;
};

/// Counts the samples in each file, which reads their headers. The error names the file.
profiler::Result<TarShards> countShards(std::vector<std::filesystem::path> files);

/// A stream of images. Each thread that loads reads the files itself, forward, and passes over the samples that are
/// not its own.
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
    std::int64_t m_id; ///< tells this stream's readers from those of others
};

} // namespace trainer::data
