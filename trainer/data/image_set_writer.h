#pragma once

#include "trainer/data/image_set.h"

#include <vector>

namespace trainer::data {

/// "0003_cross_…/000013.jpg": where image `index` of the set lies in its folder.
std::filesystem::path imageSetFile(const ImageSet& set, std::int64_t index);

/// Paints and writes images into class folders that are there. The first error ends it; Cancelled after a stop. What is
/// written is whole.
profiler::Result<void> writeImages(const std::filesystem::path& folder, const ImageSet& set,
                                   const std::vector<std::int64_t>& indices, const OpenProgress& progress,
                                   std::stop_token stop);

} // namespace trainer::data
