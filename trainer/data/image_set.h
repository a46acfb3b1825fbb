#pragma once

#include "profiler/model/result.h"
#include "trainer/data/dataset_kind.h"

#include <cstdint>
#include <filesystem>
#include <stop_token>
#include <string>

namespace trainer::data {

/// A generated dataset of JPEG files: painted images of `classes` classes, with the same files on every machine.
struct ImageSet {
    std::int64_t samples = 0, classes = 0;
    int edge = 0; ///< of the files, px

    /// Name of the folder: "painted-v1-2000-images-10-classes-256-px".
    [[nodiscard]] std::string key() const;
};

/// Creates `base`/key() unless it exists and is complete, and returns it. Missing files are written with one thread per
/// core. A new dataset is written to a temporary folder that is renamed at the end; an interrupted one is continued. A
/// second process that needs the same dataset waits for the first. Errors: NoSpace says how much space is needed and
/// removes the incomplete dataset; Cancelled keeps the files for the next time.
profiler::Result<std::filesystem::path> makeImageSet(const std::filesystem::path& base, const ImageSet& set,
                                                     const OpenProgress& progress, std::stop_token stop);

} // namespace trainer::data
