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

} // namespace trainer::data
