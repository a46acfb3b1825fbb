#pragma once

#include "profiler/model/result.h"
#include "trainer/data/dataset.h"
#include "trainer/data/dataset_kind.h"

#include <cstdint>
#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

namespace trainer::data {

/// Image files sorted into classes by the folders they lie in.
struct ImageTree {
    struct File {
        std::int64_t label = 0; ///< index into classes
        std::string name;
    };
    struct Files {
        std::filesystem::path folder; ///< holds one folder for each class
        std::vector<File> files;      ///< by class, then by name
    };
    std::vector<std::string> classes; ///< names of the class folders, sorted
    Files train, validation;
    std::vector<profiler::Message> notices; ///< what the user should know, one sentence each

    [[nodiscard]] const Files& of(Split split) const { return split == Split::Train ? train : validation; }
    [[nodiscard]] std::filesystem::path path(Split split, std::int64_t index) const;
};

/// True for *.jpg, *.jpeg and *.png, in upper or lower case, hidden files excepted.
bool isImageName(std::string_view name);

/// Finds the images under `root`: root/{train,val}/<class>/<image>, where these two exist; else root/<class>/<image>,
/// of which `validationShare` is kept for validation, the same files on every machine: in each class those with the
/// smallest hash of their name. A class keeps at least one file for training.
/// @param progress  may be empty
profiler::Result<ImageTree> scanImageTree(const std::filesystem::path& root, double validationShare,
                                          const OpenProgress& progress, std::stop_token stop);

} // namespace trainer::data
