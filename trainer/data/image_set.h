#pragma once

#include "profiler/model/result.h"
#include "trainer/data/dataset_kind.h"

#include <cstdint>
#include <filesystem>
#include <stop_token>
#include <string>

namespace trainer::data {

/// A generated data set of JPEG files: painted images of `classes` classes, the same files on every machine.
struct ImageSet {
    std::int64_t samples = 0, classes = 0;
    int edge = 0; ///< of the files, px

    /// Names the folder: "painted-v1-2000-images-10-classes-256-px".
    [[nodiscard]] std::string key() const;
};

/// Makes `base`/key() unless it is there and whole, and returns it. Files that are missing are written, by as many
/// threads as there are cores. A new set grows in a folder beside it and is renamed at the end; one that was
/// interrupted is carried on. A second process that wants the same set waits for the first. Errors: NoSpace says how
/// much is needed, and leaves no half-made set behind; Cancelled leaves what was written for the next time.
profiler::Result<std::filesystem::path> makeImageSet(const std::filesystem::path& base, const ImageSet& set,
                                                     const OpenProgress& progress, std::stop_token stop);

} // namespace trainer::data
