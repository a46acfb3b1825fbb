#include "trainer/data/image_folder.h"

#include "trainer/data/file_bytes.h"
#include "trainer/data/image_decoder.h"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <map>
#include <optional>
#include <system_error>

namespace trainer::data {

namespace fs = std::filesystem;

namespace {

using profiler::Error;
using profiler::message;
using profiler::Result;

/// Memory that a thread reuses from sample to sample.
struct Workspace {
    ImageDecoder decoder;
    RgbImage image;
};

/// Reads the header, chooses the crop, then decodes at the lowest resolution that the crop allows.
Result<CropBox> decode(Workspace& space, std::span<const std::uint8_t> file, std::uint64_t augmentSeed, int edge)
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

Result<void> loadImage(std::span<const std::uint8_t> file, const ImageView& view, std::uint64_t augmentSeed,
                       std::int64_t index, std::span<float> out, const StageRecorder& stages)
{
    thread_local Workspace space;
    Result<CropBox> box;
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

namespace {

constexpr std::string_view kLayout =
    "choose a folder with one subfolder of JPEG or PNG files per class, or with train and val folders of that form";
constexpr std::int64_t kProgressEvery = 5000; // files; gives a few reports per second on a slow disk

Error unreadable(const fs::path& folder, const std::error_code& why)
{
    if (why == std::errc::no_such_file_or_directory)
        return profiler::makeError<"data.images.no_folder", "there is no such folder">(
            Error::Code::NotFound, folder.string(), std::string(kLayout));
    if (why == std::errc::not_a_directory)
        return profiler::makeError<"data.images.not_folder", "this is a file, not a folder">(
            Error::Code::Invalid, folder.string(), std::string(kLayout));
    const bool denied = why == std::errc::permission_denied;
    return profiler::makeError<"data.images.unreadable", "the folder cannot be read: {why}">(
        denied ? Error::Code::Permission : Error::Code::Io, folder.string(),
        denied ? "give your user read permission" : "", {{"why", why.message()}});
}

struct Listing {
    std::vector<std::string> folders, images; ///< sorted
    std::int64_t others = 0;                  ///< number of files that are not images
    std::string other;                        ///< one of them
};

Result<Listing> list(const fs::path& folder)
{
    std::error_code error;
    Listing found;
    fs::directory_iterator at(folder, error);
    for (; !error && at != fs::directory_iterator(); at.increment(error)) {
        std::string name = at->path().filename().string();
        std::error_code broken; // a dangling link is neither a folder nor a file
        if (name.starts_with('.'))
            continue;
        if (at->is_directory(broken)) {
            found.folders.push_back(std::move(name));
        } else if (isImageName(name) && at->is_regular_file(broken)) {
            found.images.push_back(std::move(name));
        } else {
            ++found.others;
            found.other = std::move(name);
        }
    }
    if (error)
        return tl::unexpected(unreadable(folder, error));
    std::sort(found.folders.begin(), found.folders.end());
    std::sort(found.images.begin(), found.images.end());
    return found;
}

/// Lists the class folders one after another and counts the files.
class Scan {
public:
    Scan(const OpenProgress& progress, std::stop_token stop) : m_progress(progress), m_stop(std::move(stop)) {}

    /// The images of each class of `classes` in `folder`, by class; a class without a folder has none.
    Result<ImageTree::Files> run(const fs::path& folder, const std::vector<std::string>& classes,
                                 const std::vector<std::string>& present)
    {
        ImageTree::Files result{.folder = folder, .files = {}};
        for (std::size_t label = 0; label < classes.size(); ++label) {
            if (m_stop.stop_requested())
                return profiler::fail<"data.cancelled", "cancelled">(Error::Code::Cancelled, folder.string());
            if (!std::binary_search(present.begin(), present.end(), classes[label]))
                continue;
            auto listing = list(folder / classes[label]);
            if (!listing)
                return tl::unexpected(listing.error());
            for (std::string& name : listing->images)
                result.files.push_back({static_cast<std::int64_t>(label), std::move(name)});
            count(*listing, folder / classes[label]);
        }
        return result;
    }
    [[nodiscard]] std::optional<profiler::Message> noticeOfOthers() const
    {
        if (m_others == 0)
            return std::nullopt;
        return message<"images.other_files",
                       "{files} {files|file was|files were} skipped because {files|it is|they are} neither JPEG nor "
                       "PNG by name, for example {example}.">({{"files", m_others}, {"example", m_other.string()}});
    }

private:
    void count(const Listing& listing, const fs::path& folder)
    {
        if (listing.others > 0 && m_others == 0)
            m_other = folder / listing.other;
        m_others += listing.others;
        m_files += std::ssize(listing.images);
        if (m_progress && m_files >= m_reported + kProgressEvery) {
            m_reported = m_files;
            m_progress("listing images", m_files, 0);
        }
    }

    const OpenProgress& m_progress;
    std::stop_token m_stop;
    std::int64_t m_files = 0, m_reported = 0, m_others = 0;
    fs::path m_other;
};

/// Moves `share` of each class from train to validation.
void splitByName(ImageTree& tree, double share)
{
    tree.validation.folder = tree.train.folder;
    std::vector<ImageTree::File> all = std::exchange(tree.train.files, {});
    for (auto begin = all.begin(); begin != all.end();) {
        const auto end = std::find_if(begin, all.end(), [&](const auto& file) { return file.label != begin->label; });
        const auto count = end - begin;
        const auto kept = std::min<std::ptrdiff_t>(std::lround(share * static_cast<double>(count)), count - 1);
        std::vector<std::pair<XXH64_hash_t, std::ptrdiff_t>> byHash;
        for (std::ptrdiff_t i = 0; i < count; ++i)
            byHash.emplace_back(XXH3_64bits(begin[i].name.data(), begin[i].name.size()), i);
        std::sort(byHash.begin(), byHash.end());
        std::vector<bool> validates(static_cast<std::size_t>(count));
        for (std::ptrdiff_t i = 0; i < kept; ++i)
            validates[static_cast<std::size_t>(byHash[static_cast<std::size_t>(i)].second)] = true;
        for (std::ptrdiff_t i = 0; i < count; ++i)
            (validates[static_cast<std::size_t>(i)] ? tree.validation : tree.train)
                .files.push_back(std::move(begin[i]));
        begin = end;
    }
}

void noticeEmptyClasses(ImageTree& tree)
{
    std::vector<bool> seen(tree.classes.size());
    for (const auto& file : tree.train.files)
        seen[static_cast<std::size_t>(file.label)] = true;
    for (std::size_t label = 0; label < seen.size(); ++label)
        if (!seen[label])
            tree.notices.push_back(
                message<"images.empty_class", "The class '{class}' has no training images ({folder}).">(
                    {{"class", tree.classes[label]}, {"folder", (tree.train.folder / tree.classes[label]).string()}}));
    if (tree.classes.size() == 1)
        tree.notices.push_back(
            message<"images.one_class", "There is only one class, '{class}': a classifier has nothing to learn.">(
                {{"class", tree.classes[0]}}));
}

/// Adds the validation images of a folder with its own split.
Result<void> addValidation(ImageTree& tree, const fs::path& folder, Scan& scan)
{
    const auto listing = list(folder);
    if (!listing)
        return tl::unexpected(listing.error());
    for (const std::string& name : listing->folders)
        if (!std::binary_search(tree.classes.begin(), tree.classes.end(), name))
            tree.notices.push_back(
                message<"images.class_left_out", "The class '{class}' exists only in the validation folder and was "
                                                 "skipped.">({{"class", name}}));
    auto files = scan.run(folder, tree.classes, listing->folders);
    if (!files)
        return tl::unexpected(files.error());
    tree.validation = std::move(*files);
    return {};
}

Error noClasses(const fs::path& folder, const Listing& listing)
{
    if (listing.images.empty())
        return profiler::makeError<"data.images.no_classes", "the folder has no class folders">(
            Error::Code::Invalid, folder.string(), std::string(kLayout));
    return profiler::makeError<"data.images.not_in_classes", "the folder has {images} images but no class folders">(
        Error::Code::Invalid, folder.string(), std::string(kLayout), {{"images", listing.images.size()}});
}

} // namespace

fs::path ImageTree::path(Split split, std::int64_t index) const
{
    const Files& from = of(split);
    const File& file = from.files[static_cast<std::size_t>(index)];
    return from.folder / classes[static_cast<std::size_t>(file.label)] / file.name;
}

bool isImageName(std::string_view name)
{
    constexpr std::array<std::string_view, 3> kEndings{".jpg", ".jpeg", ".png"};
    const auto dot = name.rfind('.');
    if (dot == std::string_view::npos || dot == 0 || name.starts_with('.'))
        return false;
    std::string ending(name.substr(dot));
    std::transform(ending.begin(), ending.end(), ending.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return std::find(kEndings.begin(), kEndings.end(), ending) != kEndings.end();
}

Result<ImageTree> scanImageTree(const fs::path& root, double validationShare, const OpenProgress& progress,
                                std::stop_token stop)
{
    auto top = list(root);
    if (!top)
        return tl::unexpected(top.error());
    const auto has = [&](const char* name) {
        return std::binary_search(top->folders.begin(), top->folders.end(), std::string(name));
    };
    const bool hasSplit = has("train") && has("val");
    const fs::path folder = hasSplit ? root / "train" : root;
    if (hasSplit)
        if (top = list(folder); !top)
            return tl::unexpected(top.error());
    if (top->folders.empty())
        return tl::unexpected(noClasses(folder, *top));

    ImageTree tree;
    tree.classes = top->folders;
    Scan scan(progress, std::move(stop));
    auto files = scan.run(folder, tree.classes, tree.classes);
    if (!files)
        return tl::unexpected(files.error());
    tree.train = std::move(*files);
    if (tree.train.files.empty())
        return profiler::fail<"data.images.no_file", "none of the {folders} class folders has a JPEG or PNG file">(
            Error::Code::Invalid, folder.string(), std::string(kLayout), {{"folders", tree.classes.size()}});
    if (hasSplit) {
        if (auto ok = addValidation(tree, root / "val", scan); !ok)
            return tl::unexpected(ok.error());
    } else {
        splitByName(tree, validationShare);
    }
    noticeEmptyClasses(tree);
    if (auto others = scan.noticeOfOthers())
        tree.notices.push_back(std::move(*others));
    return tree;
}

Result<void> FolderDataset::load(Split split, std::int64_t index, std::uint64_t augmentSeed, const SampleOut& out,
                                 const StageRecorder& stages) const
{
    thread_local std::vector<std::uint8_t> file;
    const fs::path path = m_tree.path(split, index);
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
