#include "tests/record/python_script.h"
#include "tests/record/recorded_run.h"

#include <gmock/gmock.h>

namespace record_test {

using namespace profiler;

// The library is loaded by name into a program in another language: only this test notices if it is missing or cannot
// be linked there.
TEST(OperatorsLibrary, IsLoadedByAPythonWithItsPyTorchAndDeliversOperators)
{
    const Folder folder;
    const Ended ended = record(folder, python("operators.py"), "--ops");
    ASSERT_EQ(ended.status, 0) << ended.err;
    const auto recorded = trace(folder);
    EXPECT_THAT(names(*recorded, ActivityKind::CpuOp),
                testing::IsSupersetOf({"aten::matmul", "aten::mm", "aten::relu", "ReluBackward0"}));
    EXPECT_EQ(recorded->metadata().at("ops.source"), "callback");
    EXPECT_FALSE(recorded->metadata().contains("ops.note"));
}

} // namespace record_test
