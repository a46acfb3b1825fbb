#include "tests/data/sample_access.h"

#include <cstdlib>

namespace data_test {

using namespace trainer::data;

profiler::Result<Sample> loadSample(const Dataset& dataset, Split split, std::int64_t index, std::uint64_t augmentSeed)
{
    Sample sample;
    sample.input.resize(dataset.spec().inputs[0].bytes());
    sample.target.resize(dataset.spec().target.bytes());
    SampleOut out;
    out.inputs[0] = sample.input;
    out.target = sample.target;
    if (auto loaded = dataset.load(split, index, augmentSeed, out, {}); !loaded)
        return tl::unexpected(loaded.error());
    return sample;
}

OwnCache::OwnCache(const std::filesystem::path& folder)
{
    const char* before = std::getenv("XDG_CACHE_HOME");
    m_wasSet = before != nullptr;
    m_before = before ? before : "";
    ::setenv("XDG_CACHE_HOME", folder.c_str(), 1);
}

OwnCache::~OwnCache()
{
    if (m_wasSet)
        ::setenv("XDG_CACHE_HOME", m_before.c_str(), 1);
    else
        ::unsetenv("XDG_CACHE_HOME");
}

} // namespace data_test
