#include "app/look/kind_palette.h"
#include "app/look/theme.h"

#include <cmath>
#include <gtest/gtest.h>
#include <set>

namespace app {
namespace {

using profiler::ActivityKind;

SliceClass at(int i)
{
    return static_cast<SliceClass>(i);
}

TEST(KindPalette, TextIsReadableOnEveryFillAndBothHatchColours)
{
    for (const bool dark : {false, true})
        for (int i = 0; i < kSliceClasses; ++i) {
            const ClassStyle& style = classStyle(at(i), dark);
            EXPECT_GE(contrastRatio(style.text, style.fill), 4.5)
                << className(at(i)).toStdString() << (dark ? " dark" : " light");
            EXPECT_GE(contrastRatio(style.text, style.second), 4.5)
                << className(at(i)).toStdString() << (dark ? " dark" : " light");
        }
}

TEST(KindPalette, EdgesStandOutFromTheirFills)
{
    for (const bool dark : {false, true})
        for (int i = 0; i < kSliceClasses; ++i) {
            const ClassStyle& style = classStyle(at(i), dark);
            EXPECT_GE(contrastRatio(style.edge, style.fill), 1.4)
                << className(at(i)).toStdString() << (dark ? " dark" : " light");
        }
}

TEST(KindPalette, WaitsAreHatchedSoThatColourIsNotAlone)
{
    for (const SliceClass wait : {SliceClass::DataWait, SliceClass::Idle, SliceClass::Sync})
        EXPECT_NE(classStyle(wait, false).pattern, FillPattern::Solid);
    EXPECT_EQ(classStyle(SliceClass::Forward, false).pattern, FillPattern::Solid);
}

TEST(KindPalette, UsesOkabeAndItosHues)
{
    EXPECT_EQ(classStyle(SliceClass::DataWait, false).fill, QColor(0xe6, 0x9f, 0x00));
    EXPECT_EQ(classStyle(SliceClass::CopyToDevice, false).fill, QColor(0x00, 0x72, 0xb2));
    EXPECT_EQ(classStyle(SliceClass::CopyToHost, false).fill, QColor(0xcc, 0x79, 0xa7));
    EXPECT_EQ(classStyle(SliceClass::Forward, false).fill, QColor(0x00, 0x9e, 0x73));
    EXPECT_EQ(classStyle(SliceClass::Communication, false).fill, QColor(0xd5, 0x5e, 0x00));
}

TEST(KindPalette, EveryClassHasADistinctColourAndLabel)
{
    for (const bool dark : {false, true}) {
        std::set<QRgb> fills;
        for (int i = 0; i < kSliceClasses; ++i)
            fills.insert(classStyle(at(i), dark).fill.rgb());
        EXPECT_EQ(fills.size(), static_cast<std::size_t>(kSliceClasses));
    }
    std::set<QString> words;
    for (int i = 0; i < kSliceClasses; ++i)
        words.insert(className(at(i)));
    EXPECT_EQ(words.size(), static_cast<std::size_t>(kSliceClasses));
}

/// A colour as perceived with deuteranopia. Source: Viénot, Brettel and Mollon (1999), in linear light.
std::array<double, 3> deuteranope(const QColor& color)
{
    const auto linear = [](double c) { return std::pow(c, 2.2); };
    const double r = linear(color.redF()), g = linear(color.greenF()), b = linear(color.blueF());
    const double l = 17.8824 * r + 43.5161 * g + 4.11935 * b, s = 0.0299566 * r + 0.184309 * g + 1.46709 * b;
    const double m = 0.494207 * l + 1.24827 * s;
    return {0.0809 * l - 0.1305 * m + 0.1167 * s, -0.0102 * l + 0.0540 * m - 0.1136 * s,
            -0.000365 * l - 0.00412 * m + 0.6935 * s};
}

TEST(KindPalette, PhasesStayApartForADeuteranope)
{
    const SliceClass phases[] = {SliceClass::DataWait, SliceClass::CopyToDevice, SliceClass::CopyToHost,
                                 SliceClass::Memset,   SliceClass::Forward,      SliceClass::Backward,
                                 SliceClass::Optimizer};
    for (const bool dark : {false, true})
        for (const SliceClass a : phases)
            for (const SliceClass b : phases) {
                if (a >= b)
                    continue;
                const auto x = deuteranope(classStyle(a, dark).fill), y = deuteranope(classStyle(b, dark).fill);
                double squares = 0;
                for (std::size_t i = 0; i < 3; ++i) {
                    const double u = std::pow(std::max(0.0, x[i]), 1 / 2.2), v = std::pow(std::max(0.0, y[i]), 1 / 2.2);
                    squares += (u - v) * (u - v);
                }
                EXPECT_GT(std::sqrt(squares), 0.08)
                    << className(a).toStdString() << " and " << className(b).toStdString() << (dark ? " dark" : "");
            }
}

TEST(KindPalette, ClassifiesByKindAndName)
{
    EXPECT_EQ(classify(ActivityKind::Phase, "data wait"), SliceClass::DataWait);
    EXPECT_EQ(classify(ActivityKind::Phase, "zero grad"), SliceClass::Memset);
    EXPECT_EQ(classify(ActivityKind::Phase, "metrics"), SliceClass::CopyToHost);
    EXPECT_EQ(classify(ActivityKind::LoaderStage, "decode"), SliceClass::LoaderDecode);
    EXPECT_EQ(classify(ActivityKind::LoaderWait, "wait for room"), SliceClass::Idle);
    EXPECT_EQ(classify(ActivityKind::GpuMemcpy, "Memcpy HtoD (Pageable -> Device)"), SliceClass::CopyToDevice);
    EXPECT_EQ(classify(ActivityKind::GpuMemcpy, "Memcpy DtoH (Device -> Pinned)"), SliceClass::CopyToHost);
    EXPECT_EQ(classify(ActivityKind::GpuMemset, "Memset (Device)"), SliceClass::Memset);
    EXPECT_EQ(classify(ActivityKind::Kernel, "ncclDevKernel_AllReduce_Sum_f32"), SliceClass::Communication);
    EXPECT_EQ(classify(ActivityKind::Kernel, "void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, int, 512, true>()"),
              SliceClass::Reduction);
    EXPECT_EQ(classify(ActivityKind::Kernel, "sm80_xmma_dgrad_implicit_gemm_f32f32_tf32f32_f32_nhwckrsc_nchw"),
              SliceClass::Matrix);
    EXPECT_EQ(classify(ActivityKind::Kernel, "fmha_cutlassF_f16_aligned_64x64_rf_sm80"), SliceClass::Matrix);
    EXPECT_EQ(classify(ActivityKind::Kernel, "triton_poi_fused_add_relu_0"), SliceClass::Compute);
    EXPECT_EQ(classify(ActivityKind::CpuOp, "aten::convolution"), SliceClass::Matrix);
    EXPECT_EQ(classify(ActivityKind::CpuOp, "aten::batch_norm"), SliceClass::Reduction);
    EXPECT_EQ(classify(ActivityKind::CpuOp, "aten::relu_"), SliceClass::Compute);
    EXPECT_EQ(classify(ActivityKind::CpuOp, "aten::_local_scalar_dense"), SliceClass::CopyToHost);
    EXPECT_EQ(classify(ActivityKind::CudaRuntime, "cudaDeviceSynchronize"), SliceClass::Sync);
    EXPECT_EQ(classify(ActivityKind::CudaRuntime, "cudaLaunchKernel"), SliceClass::Runtime);
    EXPECT_EQ(classify(ActivityKind::Nvtx, "forward"), SliceClass::Forward);
    EXPECT_EQ(classify(ActivityKind::UserAnnotation, "ProfilerStep#3"), SliceClass::Step);
    for (const ActivityKind kind : {ActivityKind::CpuOp, ActivityKind::UserAnnotation}) { // old schemas and new ones
        EXPECT_EQ(classify(kind, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"), SliceClass::DataWait);
        EXPECT_EQ(classify(kind, "Optimizer.step#SGD.step"), SliceClass::Optimizer);
        EXPECT_EQ(classify(kind, "Optimizer.zero_grad#SGD.zero_grad"), SliceClass::Memset);
    }
    EXPECT_EQ(classify(ActivityKind::UserAnnotation, "my range"), SliceClass::Annotation);
}

TEST(TimelineTheme, SecondaryTextIsReadableInLightAndDark)
{
    for (const bool dark : {false, true}) {
        QPalette palette;
        palette.setColor(QPalette::Base, dark ? QColor(0x1b, 0x1e, 0x22) : QColor(Qt::white));
        palette.setColor(QPalette::Text, dark ? QColor(0xe6, 0xe8, 0xeb) : QColor(0x20, 0x20, 0x20));
        const TimelineTheme theme = TimelineTheme::from(palette);
        EXPECT_EQ(theme.dark, dark);
        EXPECT_GE(contrastRatio(theme.dimText, theme.header), 4.5);
        EXPECT_GE(contrastRatio(theme.text, theme.header), 7);
    }
}

} // namespace
} // namespace app
