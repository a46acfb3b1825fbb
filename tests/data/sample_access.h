#pragma once

#include "trainer/data/dataset.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace data_test {

/// A sample by value.
struct Sample {
    std::vector<std::byte> input, target;
    [[nodiscard]] std::vector<float> floats() const { return as<float>(input); }
    [[nodiscard]] std::vector<std::int64_t> tokens() const { return as<std::int64_t>(input); }
    [[nodiscard]] std::vector<std::int64_t> classes() const { return as<std::int64_t>(target); }
    [[nodiscard]] std::vector<float> numbers() const { return as<float>(target); }
    friend bool operator==(const Sample&, const Sample&) = default;

private:
    template <class T>
    static std::vector<T> as(const std::vector<std::byte>& bytes)
    {
        const auto* begin = reinterpret_cast<const T*>(bytes.data());
        return {begin, begin + bytes.size() / sizeof(T)};
    }
};

/// Loads the first input and the target of a sample.
profiler::Result<Sample> loadSample(const trainer::data::Dataset& dataset, trainer::data::Split split,
                                    std::int64_t index, std::uint64_t augmentSeed = 0);

/// Puts generated sets below a folder of the test's own, while it lives.
class OwnCache {
public:
    explicit OwnCache(const std::filesystem::path& folder);
    ~OwnCache();
    OwnCache(const OwnCache&) = delete;
    OwnCache& operator=(const OwnCache&) = delete;

private:
    std::string m_before;
    bool m_wasSet;
};

} // namespace data_test
