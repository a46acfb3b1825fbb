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

/// In place of a seed: the whole picture, for those who crop it later. Data sets of picture files know it.
inline constexpr std::uint64_t kWholeImage = ~std::uint64_t{0};

/// Where the stages of one worker are recorded (read, decode, augment…); records nothing when `lane` is null.
struct StageRecorder {
    profiler::capture::ThreadBuffer* lane = nullptr;
    std::uint32_t read = 0, decode = 0, augment = 0, collate = 0, pin = 0; ///< string ids, see profiler::stage
};

/// Memory that a sample is written to: as many bytes for each array as the data set's spec() says.
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
    /// The class of a sample that has one.
    void setClass(std::int64_t value) const { targets<std::int64_t>()[0] = value; }
};

/// Samples by index. Immutable once made: workers call load() at the same time.
class Dataset {
public:
    virtual ~Dataset() = default;
    [[nodiscard]] virtual const SampleSpec& spec() const = 0;
    [[nodiscard]] virtual std::int64_t size(Split split) const = 0;
    /// Empty where classes have no names.
    [[nodiscard]] virtual std::vector<std::string> classNames() const { return {}; }
    /// What the user should know of the data as found: empty classes, files that are no images. One sentence each.
    [[nodiscard]] virtual std::vector<profiler::Message> notices() const { return {}; }
    /// A stream has its samples one after the other: load() is asked for them with rising indices by each thread, and
    /// is slow otherwise. They are not shuffled.
    [[nodiscard]] virtual bool isStream() const { return false; }
    /// Reads, decodes, augments and normalises one sample.
    /// @param augmentSeed  every random choice comes from it; 0: no augmentation (validation)
    /// @return an error names the file, and the row where there is one, and what is wrong with it
    virtual profiler::Result<void> load(Split split, std::int64_t index, std::uint64_t augmentSeed,
                                        const SampleOut& out, const StageRecorder& stages) const = 0;
};

} // namespace trainer::data
