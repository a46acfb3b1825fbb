#pragma once

#include "trainer/data/dataset.h"
#include "trainer/data/loader.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace data_test {

/// Samples that say who they are: the first float is the index, the next two are bits of the augmentation seed.
class NumberedDataset final : public trainer::data::Dataset {
public:
    /// Called in each load(), on the loading thread; an error or an exception is the sample's.
    using OnLoad = std::function<std::optional<profiler::Error>(std::int64_t index)>;

    explicit NumberedDataset(std::int64_t size, OnLoad onLoad = {}) : m_size(size), m_onLoad(std::move(onLoad)) {}
    [[nodiscard]] const trainer::data::SampleSpec& spec() const override { return m_spec; }
    [[nodiscard]] std::int64_t size(trainer::data::Split split) const override
    {
        return split == trainer::data::Split::Train ? m_size : m_size / 2;
    }
    profiler::Result<void> load(trainer::data::Split split, std::int64_t index, std::uint64_t augmentSeed,
                                const trainer::data::SampleOut& out,
                                const trainer::data::StageRecorder& stages) const override;
    /// How many loads were begun.
    [[nodiscard]] std::int64_t begun() const { return m_begun; }

private:
    std::int64_t m_size;
    OnLoad m_onLoad;
    trainer::data::SampleSpec m_spec = trainer::data::imageSpec(1, 1, 3, 10);
    mutable std::atomic<std::int64_t> m_begun = 0;
};

profiler::Error sampleError(std::int64_t index);

/// A batch by value.
struct Copy {
    std::int64_t index = 0;
    std::vector<float> images;
    std::vector<std::int64_t> labels;
    std::vector<std::int64_t> bad;
    friend bool operator==(const Copy&, const Copy&) = default;
};
Copy copyOf(const trainer::data::Batch& batch, std::int64_t floats);

/// All batches of an epoch.
std::vector<Copy> epochOf(trainer::data::Loader& loader, std::int64_t epoch, std::int64_t floats = 3);

/// Memory that is counted.
struct CountedMemory {
    std::shared_ptr<std::atomic<int>> made = std::make_shared<std::atomic<int>>(0);
    std::shared_ptr<std::atomic<int>> alive = std::make_shared<std::atomic<int>>(0);
    [[nodiscard]] trainer::data::BufferAllocator allocator(bool pinned = false) const;
};

/// Runs the work on a thread and fails the test when it takes longer than ten seconds: what may hang must say so.
bool endsInTime(const std::function<void()>& work);

} // namespace data_test
