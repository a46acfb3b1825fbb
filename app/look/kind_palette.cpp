#include "app/look/kind_palette.h"

#include "profiler/analysis/device/kernel_class.h"
#include "profiler/analysis/steps/phases.h"

#include <QCoreApplication>
#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <initializer_list>

namespace app {

using profiler::ActivityKind;

namespace {

bool contains(std::string_view text, std::initializer_list<std::string_view> parts)
{
    const auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
    return std::any_of(parts.begin(), parts.end(), [&](std::string_view part) {
        return std::search(text.begin(), text.end(), part.begin(), part.end(), same) != text.end();
    });
}

SliceClass phaseClass(std::string_view name, SliceClass otherwise)
{
    namespace phase = profiler::phase;
    if (name == phase::kDataWait)
        return SliceClass::DataWait;
    if (name == phase::kCopy)
        return SliceClass::CopyToDevice;
    if (name == phase::kZeroGrad)
        return SliceClass::Memset;
    if (name == phase::kForward)
        return SliceClass::Forward;
    if (name == phase::kBackward)
        return SliceClass::Backward;
    if (name == phase::kOptimizer)
        return SliceClass::Optimizer;
    if (name == phase::kMetrics)
        return SliceClass::CopyToHost;
    if (name == phase::kValidation)
        return SliceClass::Validation;
    if (name == phase::kWorkerStart)
        return SliceClass::Overhead;
    return otherwise;
}

SliceClass stageClass(std::string_view name)
{
    namespace stage = profiler::stage;
    if (name == stage::kDecode)
        return SliceClass::LoaderDecode;
    if (name == stage::kAugment)
        return SliceClass::LoaderAugment;
    if (name == stage::kCollate)
        return SliceClass::LoaderCollate;
    if (name == stage::kPin)
        return SliceClass::LoaderPin;
    return SliceClass::LoaderRead;
}

SliceClass kernelSliceClass(std::string_view name)
{
    using profiler::analysis::KernelClass;
    switch (profiler::analysis::kernelClass(name)) {
    case KernelClass::Communication:
        return SliceClass::Communication;
    case KernelClass::Gemm:
    case KernelClass::Convolution:
    case KernelClass::Attention:
        return SliceClass::Matrix;
    case KernelClass::Normalization:
    case KernelClass::Reduction:
    case KernelClass::Pooling:
        return SliceClass::Reduction;
    case KernelClass::Optimizer:
        return SliceClass::Optimizer;
    case KernelClass::Elementwise:
    case KernelClass::Layout:
    case KernelClass::Indexing:
    case KernelClass::Other:
        break;
    }
    return SliceClass::Compute;
}

SliceClass operatorClass(std::string_view name)
{
    if (contains(name, {"nccl", "allreduce", "all_reduce", "allgather", "all_gather", "reduce_scatter", "c10d"}))
        return SliceClass::Communication;
    if (contains(name, {"local_scalar_dense", "::item"}))
        return SliceClass::CopyToHost;
    if (contains(name, {"zero_", "fill_", "zeros"}))
        return SliceClass::Memset;
    if (contains(name, {"optimizer", "sgd", "adam"}))
        return SliceClass::Optimizer;
    if (contains(name, {"conv", "gemm", "mm", "matmul", "linear", "attention", "sdpa", "cutlass", "einsum"}))
        return SliceClass::Matrix;
    if (contains(name, {"norm", "softmax", "sum", "mean", "reduce", "pool", "loss"}))
        return SliceClass::Reduction;
    return SliceClass::Compute;
}

SliceClass memcpyClass(std::string_view name)
{
    if (contains(name, {"htod"}))
        return SliceClass::CopyToDevice;
    return contains(name, {"dtoh"}) ? SliceClass::CopyToHost : SliceClass::CopyOther;
}

struct Definition {
    SliceClass which;
    QRgb light, dark;
    FillPattern pattern;
    const char* name;
};

// Hues that carry meaning are from Okabe and Ito (2008). Compute classes are shades of their green, loader stages are
// shades of their yellow, and everything that is neither work nor waiting is grey. Dark-mode values are the same hues
// with a lightness that suits a dark background.
constexpr Definition kDefinitions[] = {
    {SliceClass::Other, 0xffa9b0ba, 0xff6b7482, FillPattern::Solid, QT_TRANSLATE_NOOP("SliceClass", "other")},
    {SliceClass::Step, 0xffdce3ec, 0xff39424f, FillPattern::Solid, QT_TRANSLATE_NOOP("SliceClass", "step")},
    {SliceClass::DataWait, 0xffe69f00, 0xffe69f00, FillPattern::Hatch,
     QT_TRANSLATE_NOOP("SliceClass", "waiting for data")},
    {SliceClass::Idle, 0xffc9ced6, 0xff4a525e, FillPattern::SparseHatch, QT_TRANSLATE_NOOP("SliceClass", "idle")},
    {SliceClass::Sync, 0xfff0d442, 0xffd8c13a, FillPattern::Hatch,
     QT_TRANSLATE_NOOP("SliceClass", "waiting for the GPU")},
    {SliceClass::CopyToDevice, 0xff0072b2, 0xff2f95d6, FillPattern::Solid,
     QT_TRANSLATE_NOOP("SliceClass", "copy to device")},
    {SliceClass::CopyToHost, 0xffcc79a7, 0xffcc79a7, FillPattern::Solid,
     QT_TRANSLATE_NOOP("SliceClass", "copy to host")},
    {SliceClass::CopyOther, 0xff7fa9c9, 0xff5c87a8, FillPattern::Solid, QT_TRANSLATE_NOOP("SliceClass", "copy")},
    {SliceClass::Memset, 0xff66cfc6, 0xff5cc4bb, FillPattern::Solid,
     QT_TRANSLATE_NOOP("SliceClass", "memset, zero_grad")},
    {SliceClass::Forward, 0xff009e73, 0xff1fb488, FillPattern::Solid, QT_TRANSLATE_NOOP("SliceClass", "forward")},
    {SliceClass::Backward, 0xff00694d, 0xff0f8260, FillPattern::Solid, QT_TRANSLATE_NOOP("SliceClass", "backward")},
    {SliceClass::Optimizer, 0xff86b81f, 0xff8fbf3a, FillPattern::Solid, QT_TRANSLATE_NOOP("SliceClass", "optimizer")},
    {SliceClass::Validation, 0xffa3cfa0, 0xff5f8f66, FillPattern::Solid, QT_TRANSLATE_NOOP("SliceClass", "validation")},
    {SliceClass::Matrix, 0xff2fb083, 0xff2aa57a, FillPattern::Solid,
     QT_TRANSLATE_NOOP("SliceClass", "convolution, matmul")},
    {SliceClass::Reduction, 0xff7fcfae, 0xff57b592, FillPattern::Solid,
     QT_TRANSLATE_NOOP("SliceClass", "normalization, pooling, reduction")},
    {SliceClass::Compute, 0xffb4e0cb, 0xff86cdb0, FillPattern::Solid, QT_TRANSLATE_NOOP("SliceClass", "compute")},
    {SliceClass::Communication, 0xffd55e00, 0xffe8702a, FillPattern::Solid,
     QT_TRANSLATE_NOOP("SliceClass", "communication")},
    {SliceClass::LoaderRead, 0xffe9dd7a, 0xffcfc163, FillPattern::Solid, QT_TRANSLATE_NOOP("SliceClass", "read")},
    {SliceClass::LoaderDecode, 0xffd2bf4b, 0xffb5a23b, FillPattern::Solid, QT_TRANSLATE_NOOP("SliceClass", "decode")},
    {SliceClass::LoaderAugment, 0xffb59f3b, 0xff94822f, FillPattern::Solid, QT_TRANSLATE_NOOP("SliceClass", "augment")},
    {SliceClass::LoaderCollate, 0xff8d7c30, 0xff75682b, FillPattern::Solid, QT_TRANSLATE_NOOP("SliceClass", "collate")},
    {SliceClass::LoaderPin, 0xff675b28, 0xff5b5126, FillPattern::Solid, QT_TRANSLATE_NOOP("SliceClass", "pin")},
    {SliceClass::Runtime, 0xff8793a3, 0xff7d899a, FillPattern::Solid, QT_TRANSLATE_NOOP("SliceClass", "CUDA call")},
    {SliceClass::Overhead, 0xff5f6773, 0xff8e96a3, FillPattern::Solid, QT_TRANSLATE_NOOP("SliceClass", "overhead")},
    {SliceClass::Annotation, 0xffb9bfe3, 0xff6a72a8, FillPattern::Solid, QT_TRANSLATE_NOOP("SliceClass", "annotation")},
};
static_assert(std::size(kDefinitions) == kSliceClasses);

QColor towards(const QColor& from, const QColor& to, double share)
{
    const auto mix = [share](int a, int b) { return static_cast<int>(std::lround(a + (b - a) * share)); };
    return {mix(from.red(), to.red()), mix(from.green(), to.green()), mix(from.blue(), to.blue())};
}

ClassStyle styleOf(const Definition& definition, bool dark)
{
    const QColor fill(dark ? definition.dark : definition.light);
    ClassStyle style{fill, fill, {}, {}, definition.pattern};
    const bool blackReads = contrastRatio(fill, Qt::black) >= contrastRatio(fill, Qt::white);
    style.text = blackReads ? Qt::black : Qt::white;
    // The second colour of a hatch is on the side of the fill away from the text colour.
    if (definition.pattern != FillPattern::Solid)
        style.second = towards(fill, blackReads ? Qt::white : Qt::black, 0.38);
    for (double share = 0.25; share < 0.9; share += 0.05) {
        style.edge = towards(fill, dark && !blackReads ? Qt::white : Qt::black, share);
        if (contrastRatio(style.edge, fill) >= 1.5)
            break;
    }
    return style;
}

std::array<ClassStyle, kSliceClasses> makeStyles(bool dark)
{
    std::array<ClassStyle, kSliceClasses> styles;
    for (const Definition& definition : kDefinitions)
        styles[static_cast<std::size_t>(definition.which)] = styleOf(definition, dark);
    return styles;
}

double luminance(const QColor& color)
{
    const auto linear = [](double c) { return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4); };
    return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF()) + 0.0722 * linear(color.blueF());
}

constexpr int kSwatchSize = 12;
constexpr int kHatchPeriod = 8; ///< the hatch period of the timeline's tracks

} // namespace

SliceClass classify(ActivityKind kind, std::string_view name)
{
    switch (kind) {
    case ActivityKind::Step:
        return SliceClass::Step;
    case ActivityKind::Phase:
        return phaseClass(name, SliceClass::Other);
    case ActivityKind::LoaderStage:
        return stageClass(name);
    case ActivityKind::LoaderWait:
        return SliceClass::Idle;
    case ActivityKind::CpuOp: {
        const std::string_view phase = profiler::analysis::phaseOfRange(name);
        return phase.empty() ? operatorClass(name) : phaseClass(phase, SliceClass::Other);
    }
    case ActivityKind::Kernel:
        return kernelSliceClass(name);
    case ActivityKind::GpuMemcpy:
        return memcpyClass(name);
    case ActivityKind::GpuMemset:
        return SliceClass::Memset;
    case ActivityKind::Sync:
        return SliceClass::Sync;
    case ActivityKind::CudaRuntime:
    case ActivityKind::CudaDriver:
        return contains(name, {"synchronize"}) ? SliceClass::Sync : SliceClass::Runtime;
    case ActivityKind::Overhead:
        return SliceClass::Overhead;
    case ActivityKind::UserAnnotation:
    case ActivityKind::GpuUserAnnotation:
    case ActivityKind::Nvtx: {
        if (contains(name, {"profilerstep#"}))
            return SliceClass::Step;
        const std::string_view phase = profiler::analysis::phaseOfRange(name);
        return phaseClass(phase.empty() ? name : phase, SliceClass::Annotation);
    }
    case ActivityKind::Other:
        break;
    }
    return SliceClass::Other;
}

double contrastRatio(const QColor& a, const QColor& b)
{
    const double first = luminance(a), second = luminance(b);
    return (std::max(first, second) + 0.05) / (std::min(first, second) + 0.05);
}

const ClassStyle& classStyle(SliceClass which, bool dark)
{
    static const auto light = makeStyles(false);
    static const auto night = makeStyles(true);
    return (dark ? night : light)[static_cast<std::size_t>(which)];
}

QString className(SliceClass which)
{
    return QCoreApplication::translate("SliceClass", kDefinitions[static_cast<std::size_t>(which)].name);
}

SliceClass ClassLookup::operator()(ActivityKind kind, profiler::StringId name)
{
    constexpr std::uint8_t kUnknown = 255;
    const std::size_t index = std::size_t{name.value} * profiler::kActivityKinds + static_cast<std::size_t>(kind);
    if (index >= m_known.size())
        m_known.resize((std::size_t{name.value} + 1) * 3 / 2 * profiler::kActivityKinds + profiler::kActivityKinds,
                       kUnknown);
    if (m_known[index] == kUnknown)
        m_known[index] = static_cast<std::uint8_t>(classify(kind, m_trace.string(name)));
    return static_cast<SliceClass>(m_known[index]);
}

QPixmap swatch(SliceClass which, bool dark, double devicePixelRatio)
{
    const int pixels = static_cast<int>(std::lround(kSwatchSize * devicePixelRatio));
    QPixmap pixmap(pixels, pixels);
    pixmap.setDevicePixelRatio(devicePixelRatio);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    fillAs(painter, QRectF(0, 0, kSwatchSize, kSwatchSize), which, dark);
    painter.setPen(classStyle(which, dark).edge);
    painter.drawRect(QRectF(0, 0, kSwatchSize - 1, kSwatchSize - 1));
    return pixmap;
}

void fillAs(QPainter& painter, const QRectF& rect, SliceClass which, bool dark)
{
    const ClassStyle& style = classStyle(which, dark);
    painter.fillRect(rect, style.fill);
    if (style.pattern == FillPattern::Solid)
        return;
    painter.save();
    painter.setClipRect(rect, Qt::IntersectClip);
    painter.setRenderHint(QPainter::Antialiasing, true);
    painter.setPen(QPen(style.second, style.pattern == FillPattern::Hatch ? 2.1 : 1.4));
    const double height = rect.height();
    // Hatch lines start at multiples of the period within the whole widget, so that neighbouring swatches line up.
    const double first = std::floor((rect.left() + rect.top()) / kHatchPeriod) * kHatchPeriod - rect.top();
    for (double x = first; x < rect.right() + height; x += kHatchPeriod)
        painter.drawLine(QPointF(x, rect.top()), QPointF(x - height, rect.bottom()));
    painter.restore();
}

} // namespace app
