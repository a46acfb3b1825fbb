#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace trainer::data {

enum class Dtype : std::uint8_t { Float32, Int64, UInt8 };
/// Bytes of one element.
constexpr std::size_t sizeOf(Dtype dtype)
{
    return dtype == Dtype::Int64 ? 8 : dtype == Dtype::Float32 ? 4 : 1;
}

/// Element type and shape of one array of a sample; a batch has one dimension more in front. No dimensions: a number.
struct ArraySpec {
    Dtype dtype = Dtype::Float32;
    std::vector<std::int64_t> shape;

    [[nodiscard]] std::int64_t elements() const
    {
        std::int64_t count = 1;
        for (const std::int64_t size : shape)
            count *= size;
        return count;
    }
    [[nodiscard]] std::size_t bytes() const { return static_cast<std::size_t>(elements()) * sizeOf(dtype); }
    friend bool operator==(const ArraySpec&, const ArraySpec&) = default;
};

/// What a data set's samples are, and so which models can take them.
enum class DataKind {
    Images,    ///< channels × height × width
    Volumes,   ///< channels × depth × height × width
    Tokens,    ///< ids below `classes`, in order
    Sequences, ///< times × features
    Rows,      ///< features
};
/// "images", "volumes", …
std::string_view toText(DataKind kind);

/// What a data set does to its training samples at random, where it can be done to whole batches on the model's device
/// instead (augment.device).
struct BatchAugment {
    enum class Kind {
        None,  ///< nothing, or only the loader can
        Crop,  ///< pictures: a random part of each, mirrored or not; the loader gives them whole then
        Shift, ///< pictures: moved by whole pixels, mirrored or not
        Turn, ///< volumes: turned, scaled, mirrored, brighter or darker, with noise; the loader still chooses the place
    };
    Kind kind = Kind::None;
    std::int64_t mostShift = 0;   ///< Shift: px, each way
    bool mirrors = false;         ///< Shift: half of them, left to right
    std::vector<float> outside{}; ///< Shift: what comes in from outside of the picture, by channel

    friend bool operator==(const BatchAugment&, const BatchAugment&) = default;
};

/// Inputs a sample has at most.
inline constexpr std::size_t kMostInputs = 3;

/// What one sample looks like to the model. All samples of a data set look alike.
struct SampleSpec {
    DataKind kind = DataKind::Images;
    std::vector<ArraySpec> inputs; ///< 1 … kMostInputs; the first is what `kind` describes
    /// Int64: classes, of the sample (no dimensions), of each voxel, or the token that follows each; Float32: numbers
    /// to be predicted.
    ArraySpec target{Dtype::Int64, {}};
    std::int64_t classes = 0; ///< Int64 targets are below it; Tokens: the vocabulary's size. 0 for Float32 targets
    BatchAugment augment{};

    [[nodiscard]] std::size_t bytes() const
    {
        std::size_t sum = target.bytes();
        for (const ArraySpec& input : inputs)
            sum += input.bytes();
        return sum;
    }
    friend bool operator==(const SampleSpec&, const SampleSpec&) = default;
};

/// Float images with a class each.
SampleSpec imageSpec(std::int64_t channels, std::int64_t height, std::int64_t width, std::int64_t classes);
/// "float 3 × 32 × 32": for messages.
std::string toText(const ArraySpec& array);

} // namespace trainer::data
