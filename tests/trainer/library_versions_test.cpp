#include "trainer/session/machine.h"

#include <gmock/gmock.h>

TEST(LibraryVersions, NumbersBecomeReleaseVersions)
{
    EXPECT_EQ(trainer::cudnnVersionText(91900), "9.19.0");
    EXPECT_EQ(trainer::cudnnVersionText(8907), "8.9.7");
    EXPECT_EQ(trainer::ncclVersionText(22809), "2.28.9");
    EXPECT_EQ(trainer::ncclVersionText(2804), "2.8.4");
    EXPECT_EQ(trainer::cudaVersionText(13000), "13.0");
    EXPECT_EQ(trainer::cudaVersionText(12080), "12.8");
}

TEST(LibraryVersions, LibrariesThatAreNotLoadedAreOmitted)
{
    EXPECT_TRUE(trainer::loadedLibraryVersions().empty());
}
