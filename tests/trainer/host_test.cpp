#include "trainer/session/machine.h"

#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <memory>
#include <sched.h>
#include <vector>

namespace fs = std::filesystem;

namespace {

class CoreLimits : public testing::Test {
protected:
    void SetUp() override
    {
        std::string pattern = fs::temp_directory_path() / "stepscope-host-XXXXXX";
        ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
        m_root = pattern;
    }
    void TearDown() override { fs::remove_all(m_root); }
    void write(const fs::path& path, const std::string& text)
    {
        fs::create_directories((m_root / path).parent_path());
        std::ofstream(m_root / path) << text;
    }
    [[nodiscard]] int cores() const { return trainer::usableCores(m_root); }
    static int affinity()
    {
        cpu_set_t set;
        CPU_ZERO(&set);
        sched_getaffinity(0, sizeof(set), &set);
        return CPU_COUNT(&set);
    }
    fs::path m_root;
};

TEST_F(CoreLimits, WithoutControlGroupsTheAffinityCounts)
{
    EXPECT_EQ(cores(), affinity());
}

TEST_F(CoreLimits, QuotaOfTheOwnGroupBoundsThem)
{
    write("proc/self/cgroup", "0::/user/run\n");
    write("sys/fs/cgroup/user/run/cpu.max", "50000 100000\n");
    EXPECT_EQ(cores(), 1);
}

TEST_F(CoreLimits, QuotaOfAnAncestorBoundsThemAsWell)
{
    write("proc/self/cgroup", "0::/user/run\n");
    write("sys/fs/cgroup/user/run/cpu.max", "max 100000\n");
    write("sys/fs/cgroup/user/cpu.max", "100000 100000\n");
    EXPECT_EQ(cores(), 1);
}

TEST_F(CoreLimits, GroupsWithoutALimitBoundNothing)
{
    write("proc/self/cgroup", "0::/\n");
    write("sys/fs/cgroup/cpu.max", "max 100000\n");
    EXPECT_EQ(cores(), affinity());
    write("sys/fs/cgroup/cpu.max", "12800000 100000\n");
    EXPECT_EQ(cores(), affinity()) << "a quota above the affinity gives no cores";
}

TEST_F(CoreLimits, FirstVersionOfControlGroupsIsRead)
{
    write("proc/self/cgroup", "4:cpu,cpuacct:/box\n");
    write("sys/fs/cgroup/cpu/box/cpu.cfs_quota_us", "100000\n");
    write("sys/fs/cgroup/cpu/box/cpu.cfs_period_us", "100000\n");
    EXPECT_EQ(cores(), 1);
    write("sys/fs/cgroup/cpu/box/cpu.cfs_quota_us", "-1\n");
    EXPECT_EQ(cores(), affinity());
}

TEST_F(CoreLimits, MalformedFilesAreIgnored)
{
    write("proc/self/cgroup", "nothing that makes sense");
    write("sys/fs/cgroup/cpu.max", "");
    EXPECT_EQ(cores(), affinity());
}

TEST(Memory, ResidentSetGrowsWithWhatIsTouchedAndThePeakStays)
{
    constexpr std::size_t kBytes = 64 << 20;
    const auto before = trainer::residentBytes();
    {
        const std::vector<char> block(kBytes, 1);
        EXPECT_GE(trainer::residentBytes() - before, static_cast<std::int64_t>(kBytes) * 9 / 10) << block[kBytes / 2];
    }
    EXPECT_GE(trainer::peakResidentBytes() - before, static_cast<std::int64_t>(kBytes) * 9 / 10);
}

} // namespace
