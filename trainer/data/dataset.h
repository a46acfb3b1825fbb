#pragma once

#include "profiler/capture/host_lane.h"
#include "profiler/model/result.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace trainer::data {

enum class Split { Train, Validation };

/// What one sample looks like to the model.
struct SampleShape {
    std::int64_t channels = 0, height = 0, width = 0;
    std::int64_t classes = 0;
    [[nodiscard]] std::int64_t floats() const { return channels * height * width; }
};

/// Where the stages of one worker are recorded (read, decode, augment…); records nothing when `lane` is null.
struct StageRecorder {
    profiler::capture::HostLane* lane = nullptr;
    std::uint32_t read = 0, decode = 0, augment = 0, collate = 0, pin = 0; ///< string ids, see profiler::stage
};

/// Samples by index. Immutable once made: workers call load() at the same time.
class Dataset {
public:
    virtual ~Dataset() = default;
    [[nodiscard]] virtual SampleShape shape() const = 0;
    [[nodiscard]] virtual std::int64_t size(Split split) const = 0;
    [[nodiscard]] virtual std::vector<std::string> classNames() const = 0;
    /// What the user should know of the data as found: empty classes, files that are no images. One sentence each.
    [[nodiscard]] virtual std::vector<std::string> notices() const = 0;
    /// Reads, decodes, augments and normalises one sample.
    /// @param augmentSeed  every random choice comes from it; 0: no augmentation (validation)
    /// @param out  shape().floats() floats, channel by channel (CHW)
    /// @return the label; an error names the file and what is wrong with it
    virtual profiler::Result<std::int64_t> load(Split split, std::int64_t index, std::uint64_t augmentSeed,
                                                std::span<float> out, const StageRecorder& stages) const = 0;
};

} // namespace trainer::data
