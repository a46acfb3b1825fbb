#include "app/timeline/slice_colors.h"
#include "app/timeline/timeline_actions.h"
#include "app/timeline/timeline_minimap.h"
#include "profiler/model/trace_builder.h"
#include "tests/app_timeline/timeline_canvas_fixture.h"

#include <QAction>
#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string>
#include <vector>

namespace app {
namespace {

using namespace profiler;

using Lab = std::array<double, 3>;

double linear(double c)
{
    return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
}

/// CIE L*a*b* of a colour as perceived with a colour vision deficiency. Simulation: Machado, Oliveira and Fernandes
/// (2009), severity 1.
Lab seen(const QColor& color, const std::array<double, 9>& vision)
{
    const double in[3] = {linear(color.redF()), linear(color.greenF()), linear(color.blueF())};
    double rgb[3];
    for (std::size_t i = 0; i < 3; ++i)
        rgb[i] = std::clamp(vision[3 * i] * in[0] + vision[3 * i + 1] * in[1] + vision[3 * i + 2] * in[2], 0.0, 1.0);
    const auto f = [](double t) { return t > 0.008856 ? std::cbrt(t) : 7.787 * t + 16.0 / 116; };
    const double x = f((0.4124 * rgb[0] + 0.3576 * rgb[1] + 0.1805 * rgb[2]) / 0.9505);
    const double y = f(0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2]);
    const double z = f((0.0193 * rgb[0] + 0.1192 * rgb[1] + 0.9505 * rgb[2]) / 1.089);
    return {116 * y - 16, 500 * (x - y), 200 * (y - z)};
}

constexpr std::array<double, 9> kUsual{1, 0, 0, 0, 1, 0, 0, 0, 1};
constexpr std::array<double, 9> kProtanopia{0.152286, 1.052583,  -0.204868, 0.114503, 0.786281,
                                            0.099216, -0.003882, -0.048116, 1.051998};
constexpr std::array<double, 9> kDeuteranopia{0.367322, 0.860646,  -0.227968, 0.280085, 0.672501,
                                              0.047413, -0.011820, 0.042940,  0.968881};

TEST(NameColors, StayApartForTheColourBlind)
{
    for (const bool dark : {false, true})
        for (const auto& vision : {kUsual, kProtanopia, kDeuteranopia})
            for (int a = 0; a < kNameColors; ++a)
                for (int b = a + 1; b < kNameColors; ++b) {
                    const Lab first = seen(nameStyle(a, dark).fill, vision),
                              second = seen(nameStyle(b, dark).fill, vision);
                    const double apart = std::hypot(first[0] - second[0], first[1] - second[1], first[2] - second[2]);
                    EXPECT_GT(apart, 7) << a << " and " << b << (dark ? ", dark" : ", light");
                }
}

TEST(NameColors, CarryReadableText)
{
    for (const bool dark : {false, true})
        for (int i = 0; i < kNameColors; ++i)
            EXPECT_GE(contrastRatio(nameStyle(i, dark).fill, nameStyle(i, dark).text), 4.5) << i << dark;
}

TEST(NameColors, HashTheSameEverywhere)
{
    // Published values of FNV-1a, 64 bits.
    EXPECT_EQ(stableHash(""), 0xcbf29ce484222325U);
    EXPECT_EQ(stableHash("a"), 0xaf63dc4c8601ec8cU);
    EXPECT_EQ(stableHash("foobar"), 0x85944171f73967e8U);
}

TEST(OpFamily, AnOperatorItsBackwardAndItsKernelsAreOne)
{
    for (const char* name : {"aten::conv2d", "aten::cudnn_convolution", "ConvolutionBackward0",
                             "sm90_xmma_fprop_implicit_gemm_f32", "void cudnn::winograd_nonfused::x<float>(int)"})
        EXPECT_EQ(opFamily(name), "conv") << name;
    for (const char* name : {"aten::addmm", "AddmmBackward0", "cutlass_80_tensorop_gemm", "aten::linear"})
        EXPECT_EQ(opFamily(name), "matmul") << name;
    EXPECT_EQ(opFamily("aten::mul_"), opFamily("MulBackward0"));
    EXPECT_EQ(opFamily("aten::native_foo"), "foo");
    EXPECT_NE(opFamily("aten::mul"), opFamily("aten::add"));
    EXPECT_EQ(opFamily("::"), "::") << "a name without a known operation is its own operation";
}

TEST_F(TimelineCanvasTest, ColoursByNameDistinguishNamesAndKeepWaits)
{
    canvas.bringIntoView(step(10).range());
    const Slice forward = named(phase::kForward, step(10).range()), wait = named(phase::kDataWait, step(10).range());
    const auto fillOf = [&](const Slice& slice) {
        const QRect rect = scene().rectOf(slice).toRect();
        return colorAt({rect.left() + 2, rect.top() + 1});
    };
    const QColor byKind = fillOf(forward), waits = fillOf(wait);
    QAction* byName = timelineAction(canvas, "colorByName");
    byName->trigger();
    EXPECT_TRUE(byName->isChecked());
    EXPECT_EQ(fillOf(forward), nameStyle(static_cast<int>(stableHash("forward") % kNameColors), false).fill);
    EXPECT_NE(fillOf(forward), byKind);
    EXPECT_EQ(fillOf(wait), waits);
    timelineAction(canvas, "colorByKind")->trigger();
    EXPECT_EQ(fillOf(forward), byKind);
    EXPECT_FALSE(byName->isChecked());
}

/// A trace of one stream with consecutive kernels of these names, one millisecond each.
std::shared_ptr<const Trace> kernelsNamed(const std::vector<std::string>& names)
{
    TraceBuilder builder;
    Track stream;
    stream.kind = TrackKind::Stream;
    const TrackId track = builder.addTrack(stream);
    for (std::size_t i = 0; i < names.size(); ++i) {
        Slice kernel;
        kernel.kind = ActivityKind::Kernel;
        kernel.name = builder.intern(names[i]);
        kernel.begin = traceTime(static_cast<std::int64_t>(i) * 1'000'000);
        kernel.duration = Nanoseconds{1'000'000};
        builder.add(track, kernel);
    }
    return builder.finish();
}

/// The drawn fill colour of each kernel, in order.
std::vector<QRgb> drawnFills(TimelineCanvas& canvas)
{
    const QImage image = canvas.viewport()->grab().toImage();
    std::vector<QRgb> fills;
    for (const Slice& kernel : canvas.scene().trace->ofKind(ActivityKind::Kernel)) {
        const QRect rect = canvas.scene().rectOf(kernel).toRect();
        fills.push_back(image.pixel(rect.left() + 3, rect.top() + 1));
    }
    return fills;
}

std::vector<QRgb> expectedFills(const Trace& trace)
{
    std::vector<QRgb> fills;
    for (const Slice& kernel : trace.ofKind(ActivityKind::Kernel))
        fills.push_back(classStyle(classify(kernel.kind, trace.name(kernel)), false).fill.rgb());
    return fills;
}

TEST(TraceColors, AreThoseOfTheTraceOnScreenHoweverManyWereOpenBefore)
{
    // The same name ids refer to other names in each trace.
    const std::vector<std::vector<std::string>> traces = {
        {"ampere_sgemm_128x64", "softmax_warp_forward", "vectorized_elementwise_kernel", "ncclDevKernel_AllReduce"},
        {"ncclDevKernel_AllReduce", "vectorized_elementwise_kernel", "ampere_sgemm_128x64", "softmax_warp_forward"},
        {"multi_tensor_apply_adam", "ncclDevKernel_AllGather", "batch_norm_forward", "cutlass_gemm"}};
    TimelineCanvas canvas;
    canvas.resize(1000, 300);
    canvas.show();
    std::set<std::vector<QRgb>> seen;
    for (const auto& names : traces) {
        const auto trace = kernelsNamed(names);
        canvas.setTrace(trace);
        EXPECT_EQ(drawnFills(canvas), expectedFills(*trace)) << names.front();
        seen.insert(drawnFills(canvas));
    }
    EXPECT_EQ(seen.size(), traces.size()) << "the traces must differ for this test to be meaningful";
    // And back, with a later snapshot instead of a new trace.
    const auto first = kernelsNamed(traces[0]);
    canvas.updateTrace(first);
    EXPECT_EQ(drawnFills(canvas), expectedFills(*first));
}

TEST(TraceColors, OfTheOverviewAreThoseOfItsTrace)
{
    TimelineMinimap map;
    map.resize(400, TimelineMinimap::kHeight);
    map.show();
    for (const char* name : {"ampere_sgemm_128x64", "ncclDevKernel_AllReduce", "softmax_warp_forward"}) {
        const auto trace = kernelsNamed({name});
        map.setTrace(trace);
        map.setView(trace->range(), 0);
        const QImage image = map.grab().toImage();
        EXPECT_EQ(image.pixel(200, TimelineMinimap::kHeight / 2), expectedFills(*trace).front()) << name;
    }
}

} // namespace
} // namespace app
