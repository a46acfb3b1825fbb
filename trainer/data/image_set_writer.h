#pragma once

#include "trainer/data/image_set.h"

#include <vector>

namespace trainer::data {

/// "0003_cross_…/000013.jpg": path of image `index` within the dataset's folder.
std::filesystem::path imageSetFile(const ImageSet& set, std::int64_t index);

/// Paints and writes images into existing class folders. Stops at the first error; Cancelled after a stop. Written
/// files are always complete.
profiler::Result<void> writeImages(const std::filesystem::path& folder, const ImageSet& set,
                                   const std::vector<std::int64_t>& indices, const OpenProgress& progress,
                                   std::stop_token stop);

} // namespace trainer::data
