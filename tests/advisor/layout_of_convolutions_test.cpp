#include "advisor/rule.h"
#include "profiler/formats/format.h"

#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <unistd.h>

/// Strides are part of the details that importers read on demand, so these traces are files.
namespace advisor_test {
namespace {

/// The verdict of memory_format on three steps of convolutions whose inputs have these strides, with layout changes.
advisor::Advice ofConvolutions(const std::string& strides)
{
    std::string events;
    const auto add = [&](const char* category, const std::string& name, int tid, int begin, int us,
                         const std::string& args) {
        events +=
            fmt::format(R"({}{{"ph":"X","cat":"{}","name":"{}","pid":{},"tid":{},"ts":{},"dur":{},"args":{{{}}}}})",
                        events.empty() ? "" : ",\n", category, name, tid == 7 ? 0 : 1, tid, begin, us, args);
    };
    for (int step = 0; step < 3; ++step) {
        const int at = 1000 * step;
        add("user_annotation", fmt::format("ProfilerStep#{}", step + 2), 1, at, 1000, "");
        add("cpu_op", "aten::_convolution", 1, at + 10, 100,
            fmt::format(R"("Input Dims":[[8,64,32,32],[64,64,3,3]],"Input Strides":[{},[576,9,3,1]])", strides));
        const std::string device = R"("device":0,"stream":7)";
        add("kernel", "cudnn::ops::nhwcToNchwKernel", 7, at + 200, 50, device);
        add("kernel", "sm80_xmma_fprop_implicit_gemm_f32f32", 7, at + 250, 600, device);
    }
    const auto path =
        std::filesystem::temp_directory_path() / ("stepscope_layout_" + std::to_string(::getpid()) + ".json");
    std::ofstream(path) << "{\"schemaVersion\": 1, \"traceEvents\": [" << events << "]}";
    const auto trace = profiler::formats::openTrace(path);
    EXPECT_TRUE(trace) << trace.error().message();
    for (advisor::RuleAdvice& row : advisor::advise(**trace, nullptr))
        if (row.id == "memory_format") {
            std::filesystem::remove(path);
            return std::move(row.advice);
        }
    return {};
}

TEST(LayoutOfConvolutions, ComesFromTheStrides)
{
    using advisor::State;
    EXPECT_EQ(ofConvolutions("[65536,1024,32,1]").state, State::Fires) << "contiguous";
    EXPECT_EQ(ofConvolutions("[65536,1,2048,64]").state, State::Silent) << "channels-last";
    EXPECT_EQ(ofConvolutions("[]").state, State::Fires) << "not recorded: layout conversions show it";
}

} // namespace
} // namespace advisor_test
