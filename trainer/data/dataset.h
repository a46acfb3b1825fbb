#pragma once

#include "profiler/capture/thread_buffer.h"
#include "profiler/model/clock.h"
#include "profiler/model/result.h"
#include "trainer/config/training_config.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

/// What a dataset is: the arrays of its samples, samples by index, and the kinds of datasets that a file in
/// trainer/datasets defines.
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

enum class Split { Train, Validation };

/// Used instead of a seed: load the whole image, to be cropped later. Supported by datasets of image files.
inline constexpr std::uint64_t kWholeImage = ~std::uint64_t{0};

/// Records the stages of one worker (read, decode, augment…); records nothing if `buffer` is null.
struct StageRecorder {
    profiler::capture::ThreadBuffer* buffer = nullptr;
    std::uint32_t read = 0, decode = 0, augment = 0, collate = 0, pin = 0; ///< string ids, see profiler::stage
};

/// Memory for one sample: as many bytes per array as the dataset's spec() says.
struct SampleOut {
    std::array<std::span<std::byte>, kMostInputs> inputs;
    std::span<std::byte> target;

    template <class T>
    [[nodiscard]] std::span<T> input(std::size_t index = 0) const
    {
        return {reinterpret_cast<T*>(inputs[index].data()), inputs[index].size() / sizeof(T)};
    }
    template <class T>
    [[nodiscard]] std::span<T> targets() const
    {
        return {reinterpret_cast<T*>(target.data()), target.size() / sizeof(T)};
    }
    /// Sets the class of a sample that has a single one.
    void setClass(std::int64_t value) const { targets<std::int64_t>()[0] = value; }
};

/// Samples by index. Immutable after construction: workers call load() concurrently.
class Dataset {
public:
    virtual ~Dataset() = default;
    [[nodiscard]] virtual const SampleSpec& spec() const = 0;
    [[nodiscard]] virtual std::int64_t size(Split split) const = 0;
    /// Empty if the classes have no names.
    [[nodiscard]] virtual std::vector<std::string> classNames() const { return {}; }
    /// Notices about the data for the user: empty classes, files that are not images. One sentence each.
    [[nodiscard]] virtual std::vector<profiler::Message> notices() const { return {}; }
    /// A stream provides its samples sequentially: each thread should call load() with rising indices, otherwise it is
    /// slow. Streams are not shuffled.
    [[nodiscard]] virtual bool isStream() const { return false; }
    /// Reads, decodes, augments and normalises one sample.
    /// @param augmentSeed  seed of all random choices; 0: no augmentation (validation)
    /// @return the error names the file, the row if there is one, and the problem
    virtual profiler::Result<void> load(Split split, std::int64_t index, std::uint64_t augmentSeed,
                                        const SampleOut& out, const StageRecorder& stages) const = 0;
};

/// Records a scope as a stage of its thread; free if nothing is recorded.
class StageTimer {
public:
    /// @param name  string id: stages.read, stages.decode…
    /// @param value  index of the sample, or of the batch for collate and pin
    StageTimer(const StageRecorder& stages, std::uint32_t name, std::int64_t value)
        : m_buffer(stages.buffer), m_name(name), m_value(value)
    {
        if (m_buffer)
            m_begin = profiler::TraceClock::now();
    }
    ~StageTimer()
    {
        if (m_buffer)
            m_buffer->complete(profiler::ActivityKind::LoaderStage, m_name, m_begin, profiler::TraceClock::now(),
                               m_value, m_bytes);
    }
    StageTimer(const StageTimer&) = delete;
    StageTimer& operator=(const StageTimer&) = delete;
    void setBytes(std::int64_t bytes) { m_bytes = bytes; }

private:
    profiler::capture::ThreadBuffer* m_buffer;
    std::uint32_t m_name;
    std::int64_t m_value, m_bytes = 0;
    profiler::TraceTime m_begin{};
};

/// Called while a dataset is opened, with the current activity, the amount done and the total (0: unknown). Called on
/// the thread that opens the dataset, a few times per second.
using OpenProgress = std::function<void(std::string_view what, std::int64_t done, std::int64_t total)>;

/// A kind of dataset. A file trainer/datasets/<stem>.cpp defines `DatasetKind <stem>()`; the stem is the value of the
/// knob dataset.kind. All of them: trainer::datasets::all(), declared in "trainer_data_datasets_registry.h".
struct DatasetKind {
    std::string_view title; ///< "Folder of images"
    std::string_view doc;   ///< description and expected files, one or two sentences, for users
    /// Finds (or first generates) the data and checks them. The error names the faulty file or folder and how to fix
    /// it; Error::Code::Cancelled after a stop.
    /// @param progress  may be empty
    profiler::Result<std::shared_ptr<const Dataset>> (*open)(const config::TrainingConfig& config,
                                                             const OpenProgress& progress,
                                                             std::stop_token stop) = nullptr;
};

} // namespace trainer::data
