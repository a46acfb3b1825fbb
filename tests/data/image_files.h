#pragma once

#include "tests/support/temporary_folder.h"
#include "trainer/config/training_config.h"
#include "trainer/data/dataset.h"
#include "trainer/data/image.h"

#include <array>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace data_test {

using Bytes = std::vector<std::uint8_t>;

using test_support::TemporaryFolder;

trainer::data::RgbImage plainImage(trainer::data::ImageSize size, std::array<std::uint8_t, 3> colour);
/// Every pixel its own: x and y can be read from red and green.
trainer::data::RgbImage rampImage(trainer::data::ImageSize size);

/// Folders on the way are made.
void writeBytes(const std::filesystem::path& path, const Bytes& bytes);
Bytes readBytes(const std::filesystem::path& path);
void writeJpeg(const std::filesystem::path& path, const trainer::data::RgbImage& image, int quality = 95);
/// 8-bit RGB by libpng.
void writePng(const std::filesystem::path& path, const trainer::data::RgbImage& image);

/// A configuration from assignments.
config::TrainingConfig configOf(std::initializer_list<std::pair<std::string_view, std::string>> values);
/// Opens a dataset by the name of its kind.
profiler::Result<std::shared_ptr<const trainer::data::Dataset>>
openDataset(std::string_view kind, const config::TrainingConfig& config,
            const trainer::data::OpenProgress& progress = {}, std::stop_token stop = {});

/// Loads an image.
/// @param out  resized to what the dataset gives
/// @return its class
profiler::Result<std::int64_t> loadImage(const trainer::data::Dataset& dataset, trainer::data::Split split,
                                         std::int64_t index, std::uint64_t augmentSeed, std::vector<float>& out,
                                         const trainer::data::StageRecorder& stages = {});

} // namespace data_test
