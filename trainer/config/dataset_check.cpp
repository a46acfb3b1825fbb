#include "trainer/config/dataset_check.h"

#include "trainer/config/knobs.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace config {

namespace {

namespace fs = std::filesystem;
using Texts = std::vector<std::string_view>;

// Maximum number of entries checked in all folders together; of larger folders only the first entries are checked.
// Listing that many takes some milliseconds on a local disk and about a second on a network share. Chosen by hand.
constexpr int kMostEntries = 5000;

bool endsWithOneOf(const fs::path& path, const Texts& endings)
{
    std::string name = path.filename().string();
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return !name.starts_with('.') &&
           std::any_of(endings.begin(), endings.end(), [&](std::string_view ending) { return name.ends_with(ending); });
}

/// Searches folders until the limit on entries is reached.
class Search {
public:
    /// Whether the folder contains a wanted entry; also true once the limit on entries is reached.
    bool holds(const fs::path& folder, const std::function<bool(const fs::directory_entry&)>& isWanted)
    {
        std::error_code failed;
        for (fs::directory_iterator at(folder, failed); !failed && at != fs::directory_iterator(); at.increment(failed))
            if (--m_left < 0 || isWanted(*at))
                return true;
        return false;
    }
    bool holdsFile(const fs::path& folder, const Texts& endings)
    {
        return holds(folder, [&](const fs::directory_entry& entry) { return endsWithOneOf(entry.path(), endings); });
    }

private:
    int m_left = kMostEntries; ///< entries, over all folders
};

bool holdsOneOf(const fs::path& folder, const Texts& names)
{
    std::error_code failed;
    return std::any_of(names.begin(), names.end(),
                       [&](std::string_view name) { return fs::exists(folder / name, failed); });
}

/// What is missing from the folder; empty if nothing is.
std::string lackOfImages(const fs::path& folder)
{
    std::error_code failed;
    const fs::path top = fs::is_directory(folder / "train", failed) && fs::is_directory(folder / "val", failed)
                             ? folder / "train"
                             : folder;
    const Texts images{".jpg", ".jpeg", ".png"};
    Search search;
    if (search.holds(top, [&](const fs::directory_entry& entry) {
            return entry.is_directory(failed) && search.holdsFile(entry.path(), images);
        }))
        return {};
    return search.holdsFile(top, images) ? "the images are not in one subfolder per class"
                                         : "there is no subfolder with JPEG or PNG files";
}

std::string lackOfMnist(const fs::path& folder)
{
    for (const std::string_view part : {"train-images", "train-labels", "t10k-images", "t10k-labels"}) {
        const std::string number = part.ends_with("images") ? "3" : "1";
        const std::string dashed = std::string(part) + "-idx" + number + "-ubyte";
        const std::string dotted = std::string(part) + ".idx" + number + "-ubyte";
        const std::string dashedGz = dashed + ".gz", dottedGz = dotted + ".gz";
        if (!holdsOneOf(folder, {dashed, dotted, dashedGz, dottedGz}))
            return "the file " + dashed + " (or " + dashedGz + ") is missing";
    }
    return {};
}

std::string lackOfCifar(const fs::path& folder)
{
    std::error_code failed;
    const fs::path inner = folder / "cifar-10-batches-bin";
    const fs::path top = fs::exists(inner, failed) ? inner : folder;
    for (const std::string_view name : {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin",
                                        "data_batch_5.bin", "test_batch.bin"})
        if (!fs::exists(top / name, failed))
            return "the file " + std::string(name) + " is missing";
    return {};
}

std::string lackOf(std::string_view kind, const fs::path& path)
{
    std::error_code failed;
    const bool isFolder = fs::is_directory(path, failed);
    if (!isFolder && kind == "arrays")
        return endsWithOneOf(path, {".npz", ".zip"}) ? "" : "the file is not an .npz file";
    if (!isFolder)
        return kind == "csv" || kind == "text" ? "" : "it is a file, but a folder is expected";
    if (kind == "image_folder" || kind == "generated_images")
        return lackOfImages(path);
    if (kind == "mnist")
        return lackOfMnist(path);
    if (kind == "cifar10")
        return lackOfCifar(path);
    Search search;
    if (kind == "text")
        return search.holdsFile(path, {".txt"}) ? "" : "there is no .txt file in the folder";
    if (kind == "csv")
        return search.holdsFile(path, {".csv"}) ? "" : "there is no .csv file in the folder";
    if (kind == "arrays")
        return search.holdsFile(path, {".npy"}) ? "" : "there is no .npy file in the folder";
    const Texts tars{".tar", ".tar.gz", ".tgz", ".tar.zst"};
    if (kind == "stream")
        return search.holdsFile(path / "train", tars) || search.holdsFile(path, tars)
                   ? ""
                   : "there is no .tar file in the folder";
    return {};
}

bool isReadable(const fs::path& path)
{
    std::error_code failed;
    if (!fs::is_directory(path, failed))
        return std::ifstream(path).good();
    fs::directory_iterator at(path, failed);
    return !failed;
}

bool isEmpty(const fs::path& path)
{
    std::error_code failed;
    return fs::is_empty(path, failed) && !failed;
}

} // namespace

std::optional<ConfigError> datasetProblem(const TrainingConfig& config)
{
    const std::string kind = config.text(key::dataset.name), text = config[key::datasetPath];
    const auto problem = [&](std::string_view id, const std::string& what) {
        return ConfigError{std::string(id), std::string(key::datasetPath.name), text, what, {}};
    };
    if (text.empty())
        return kind == "image_folder"
                   ? std::optional(problem("config.dataset_folder", "this kind of dataset needs a folder"))
                   : std::nullopt;
    const fs::path path = text;
    std::error_code failed;
    if (!fs::exists(path, failed))
        return problem("config.dataset_missing",
                       failed ? "it cannot be accessed: " + failed.message() : "there is no such file or folder");
    if (!isReadable(path))
        return problem("config.dataset_unreadable", "it cannot be read: check its permissions");
    if (isEmpty(path))
        return problem("config.dataset_empty", "it is empty");
    const std::string lack = lackOf(kind, path);
    return lack.empty() ? std::nullopt : std::optional(problem("config.dataset_incomplete", lack));
}

} // namespace config
