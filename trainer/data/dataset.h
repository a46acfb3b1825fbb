#pragma once

#include "profiler/capture/thread_buffer.h"
#include "profiler/model/result.h"
#include "trainer/data/sample_spec.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace trainer::data {

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

} // namespace trainer::data
