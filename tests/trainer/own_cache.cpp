#include "tests/trainer/trainer_run.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <memory>

namespace trainer_test {
namespace {

/// Datasets that trainers generate are in a folder of this program, not in the user's cache.
class OwnCache final : public testing::Environment {
public:
    void SetUp() override
    {
        m_folder = std::make_unique<TestFolder>();
        ::setenv("XDG_CACHE_HOME", m_folder->path().c_str(), 1);
    }
    void TearDown() override { m_folder.reset(); }

private:
    std::unique_ptr<TestFolder> m_folder;
};

[[maybe_unused]] testing::Environment* const kOwnCache = testing::AddGlobalTestEnvironment(new OwnCache);

} // namespace
} // namespace trainer_test
