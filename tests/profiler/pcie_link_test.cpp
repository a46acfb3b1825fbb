#include "profiler/model/nvml_values.h"

#include <gtest/gtest.h>

namespace profiler {
namespace {

TEST(PcieLink, HasTheBandwidthOfTheSpecification)
{
    const std::pair<PcieLink, double> rates[] = {{{1, 16}, 4},      {{2, 8}, 4},       {{3, 16}, 15.754},
                                                 {{4, 16}, 31.508}, {{5, 16}, 63.015}, {{6, 1}, 7.375}};
    for (const auto& [link, gbPerSecond] : rates)
        EXPECT_NEAR(link.gbPerSecond(), gbPerSecond, 0.001) << link.text();
}

TEST(PcieLink, IsParsedFromItsText)
{
    EXPECT_EQ((PcieLink{5, 16}.text()), "PCIe 5.0 x16");
    EXPECT_EQ(PcieLink::fromText("PCIe 5.0 x16"), (PcieLink{5, 16}));
    for (const char* wrong :
         {"", "PCIe", "PCIe 5.0 x", "PCIe 0.0 x16", "PCIe 7.0 x16", "PCIe 5.0 x0", "PCIe 5.0 x64", "PCIe 5.0 x16 ",
          "PCIe 5.0x16", "pcie 5.0 x16", "PCIe -5.0 x16", "PCIe 99999999999999999999.0 x16"})
        EXPECT_FALSE(PcieLink::fromText(wrong)) << wrong;
}

} // namespace
} // namespace profiler
