#include "profiler/capture/cupti/vocabulary.h"

#include "profiler/capture/cupti/source.h"
#include "tests/support/message_matchers.h"

#include <gmock/gmock.h>
#include <set>
#include <string>

namespace capture_test {

using namespace profiler;
using namespace profiler::capture;
using profiler::test::hasId;
using profiler::test::hasIdAndPart;
using profiler::test::hasPart;
using testing::HasSubstr;

// States of a machine that users run into: each has its own message.
TEST(CuptiError, EachStateOfAMachineHasItsOwnMessage)
{
    std::set<std::string> ids;
    for (const int status : {33, 35, 39, 40, 41, 42, 43, 44, 45, 46, 999}) {
        const Error error = cuptiError(systemCupti(), static_cast<CUptiResult>(status), "start GPU tracing");
        EXPECT_THAT(error.what, hasPart("doing", "start GPU tracing"));
        EXPECT_EQ(error.where, "CUPTI error " + std::to_string(status));
        EXPECT_FALSE(error.hint.empty());
        EXPECT_TRUE(ids.insert(error.what.id).second) << error.what;
    }
}

TEST(CuptiError, NamesTheToolThatUsesCupti)
{
    const Error error = cuptiError(systemCupti(), CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED, "start GPU tracing",
                                   "Nsight Systems");
    EXPECT_EQ(error.code, Error::Code::Unavailable);
    EXPECT_THAT(error.what, hasIdAndPart("cupti.other_tool", "tool", "Nsight Systems"));
}

TEST(CuptiError, OtherStatusesUseCuptisDescription)
{
    EXPECT_THAT(cuptiError(systemCupti(), CUPTI_ERROR_INVALID_PARAMETER, "flush").what,
                hasIdAndPart("cupti.other", "why", "CUPTI_ERROR_INVALID_PARAMETER"));
    EXPECT_THAT(cuptiError(systemCupti(), static_cast<CUptiResult>(4242), "flush").where, HasSubstr("4242"));
}

} // namespace capture_test
