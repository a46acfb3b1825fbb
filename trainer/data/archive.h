#pragma once

#include "profiler/model/result.h"
#include "trainer/data/dataset.h"
#include "trainer/data/image_folder.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

struct archive;
struct archive_entry;

/// Archives: reads their files one after the other, writes them, and streams the images of tar files as a dataset.
namespace trainer::data {

/// Reads the files of an archive (tar, optionally compressed; zip) one after the other with libarchive.
class ArchiveReader {
public:
    static profiler::Result<ArchiveReader> open(const std::filesystem::path& path);
    /// Name of the next regular file; nullopt at the end.
    profiler::Result<std::optional<std::string>> next();
    /// Contents of the file that next() returned. Rejects files with more than `most` bytes.
    profiler::Result<void> read(std::vector<std::uint8_t>& out, std::size_t most);

private:
    struct Close {
        void operator()(::archive* archive) const;
    };
    explicit ArchiveReader(std::filesystem::path path);
    [[nodiscard]] profiler::Error failed() const;

    std::filesystem::path m_path;
    std::unique_ptr<::archive, Close> m_archive;
    ::archive_entry* m_entry = nullptr;
};

/// A file to write to an archive.
struct ArchiveFile {
    std::string name;
    std::vector<std::uint8_t> bytes;
};
/// Writes a tar archive (POSIX ustar).
profiler::Result<void> writeTar(const std::filesystem::path& path, const std::vector<ArchiveFile>& files);

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
