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

/// Element type and shape of one array of a sample; a batch has one more dimension in front. No dimensions: a scalar.
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

/// The kind of a dataset's samples, which determines the models that can use them.
enum class DataKind {
    Images,    ///< channels × height × width
    Tokens,    ///< ids below `classes`, in order
    Sequences, ///< times × features
    Rows,      ///< features
};
/// "images", "tokens", …
std::string_view toText(DataKind kind);

/// Random augmentation of the training samples that can also run on whole batches on the model's device
/// (augment.device).
struct BatchAugment {
    enum class Kind {
        None,  ///< none, or only in the loader
        Crop,  ///< images: a random crop, possibly flipped; the loader then gives whole images
        Shift, ///< images: shifted by whole pixels, possibly flipped
    };
    Kind kind = Kind::None;
    std::int64_t mostShift = 0;   ///< Shift: px, in each direction
    bool mirrors = false;         ///< Shift: flips half of the images horizontally
    std::vector<float> outside{}; ///< Shift: border value per channel

    friend bool operator==(const BatchAugment&, const BatchAugment&) = default;
};

/// Maximum number of inputs per sample.
inline constexpr std::size_t kMostInputs = 3;

/// Arrays of one sample as the model sees them. All samples of a dataset have the same spec.
struct SampleSpec {
    DataKind kind = DataKind::Images;
    std::vector<ArraySpec> inputs; ///< 1 … kMostInputs; `kind` describes the first
    /// Int64: the class of the sample (no dimensions) or of each position, or the next token at each position; Float32:
    /// the numbers to predict.
    ArraySpec target{Dtype::Int64, {}};
    std::int64_t classes = 0; ///< Int64 targets are below this; Tokens: the vocabulary's size. 0 for Float32 targets
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

/// Float images with one class each.
SampleSpec imageSpec(std::int64_t channels, std::int64_t height, std::int64_t width, std::int64_t classes);
/// "float 3 × 32 × 32": for messages.
std::string toText(const ArraySpec& array);

} // namespace trainer::data
