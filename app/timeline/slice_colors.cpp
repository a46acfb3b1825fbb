#include "app/timeline/slice_colors.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>
#include <vector>

namespace app {

using profiler::ActivityKind;
using profiler::StringId;
using profiler::Trace;

namespace {

constexpr std::uint8_t kUnknown = 255;

// Paul Tol's "muted" scheme (technical note SRON/EPS/TN/09-002, 3.2), which is distinguishable with protanopia,
// deuteranopia and tritanopia. Its darkest hues are lightened for dark backgrounds.
struct Hue {
    QRgb light, dark;
};
constexpr Hue kHues[kNameColors] = {{0xff332288, 0xff5a49b8}, {0xff88ccee, 0xff88ccee}, {0xff44aa99, 0xff44aa99},
                                    {0xff117733, 0xff1f8a44}, {0xff999933, 0xff999933}, {0xffddcc77, 0xffddcc77},
                                    {0xffcc6677, 0xffcc6677}, {0xff882255, 0xffa63a70}, {0xffaa4499, 0xffb95aaa},
                                    {0xffb9bcc2, 0xff747b87}};

/// Texts that occur in many names and do not identify the operation.
constexpr std::string_view kNoise[] = {"native",     "cudnn",    "miopen", "mkldnn",   "aten",  "at",
                                       "c10",        "kernel",   "cuda",   "autograd", "torch", "void",
                                       "vectorized", "unrolled", "thnn",   "sm80",     "sm90"};

/// Operations whose kernels, operators and backward nodes have many names. The first match counts.
struct Family {
    std::string_view part, name;
};
constexpr Family kFamilies[] = {{"batch_norm", "batch_norm"},
                                {"batchnorm", "batch_norm"},
                                {"bn_", "batch_norm"},
                                {"layer_norm", "layer_norm"},
                                {"layernorm", "layer_norm"},
                                {"conv", "conv"},
                                {"fprop", "conv"},
                                {"dgrad", "conv"},
                                {"wgrad", "conv"},
                                {"winograd", "conv"},
                                {"softmax", "softmax"},
                                {"attention", "attention"},
                                {"flash", "attention"},
                                {"sdpa", "attention"},
                                {"gemm", "matmul"},
                                {"addmm", "matmul"},
                                {"matmul", "matmul"},
                                {"bmm", "matmul"},
                                {"linear", "matmul"},
                                {"cutlass", "matmul"},
                                {"max_pool", "pool"},
                                {"maxpool", "pool"},
                                {"avg_pool", "pool"},
                                {"avgpool", "pool"},
                                {"relu", "relu"},
                                {"clamp_min", "relu"},
                                {"threshold", "relu"},
                                {"gelu", "gelu"},
                                {"dropout", "dropout"},
                                {"embedding", "embedding"},
                                {"adam", "adam"},
                                {"sgd", "sgd"},
                                {"nccl", "nccl"},
                                {"memcpy", "memcpy"},
                                {"copy_", "memcpy"},
                                {"memset", "memset"}};

ClassStyle styleOf(QRgb color, bool dark)
{
    const QColor fill(color);
    ClassStyle style{fill, fill, {}, {}, FillPattern::Solid};
    const bool blackReads = contrastRatio(fill, Qt::black) >= contrastRatio(fill, Qt::white);
    style.text = blackReads ? Qt::black : Qt::white;
    for (double share = 0.25; share < 0.9; share += 0.05) {
        const int target = dark && !blackReads ? 255 : 0;
        const auto mix = [&](int from) { return static_cast<int>(from + (target - from) * share); };
        style.edge = QColor(mix(fill.red()), mix(fill.green()), mix(fill.blue()));
        if (contrastRatio(style.edge, fill) >= 1.5)
            break;
    }
    return style;
}

std::array<ClassStyle, kNameColors> makeStyles(bool dark)
{
    std::array<ClassStyle, kNameColors> styles;
    for (std::size_t i = 0; i < kNameColors; ++i)
        styles[i] = styleOf(dark ? kHues[i].dark : kHues[i].light, dark);
    return styles;
}

/// Classes that keep their colour in every scheme because they are not work.
bool keepsItsOwn(SliceClass which)
{
    return which == SliceClass::Step || which == SliceClass::DataWait || which == SliceClass::Idle ||
           which == SliceClass::Sync;
}

} // namespace

const ClassStyle& nameStyle(int index, bool dark)
{
    static const auto light = makeStyles(false);
    static const auto night = makeStyles(true);
    return (dark ? night : light)[static_cast<std::size_t>(index % kNameColors)];
}

std::uint64_t stableHash(std::string_view text)
{
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const char c : text)
        hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return hash;
}

std::string opFamily(std::string_view name)
{
    std::string low(name.substr(0, 400)); // kernel names may have thousands of letters of template arguments
    std::transform(low.begin(), low.end(), low.begin(), [](unsigned char c) { return std::tolower(c); });
    for (const Family& family : kFamilies)
        if (low.find(family.part) != low.npos)
            return std::string(family.name);
    low = low.substr(0, low.find_first_of("<("));
    std::string kept;
    for (std::size_t at = 0; at < low.size();) {
        const auto end = std::min(low.find_first_of(":_ .#/", at), low.size());
        std::string word = low.substr(at, end - at);
        if (const auto tail = word.find("backward"); tail != word.npos && tail > 0)
            word.resize(tail);
        while (!word.empty() && std::isdigit(static_cast<unsigned char>(word.back())))
            word.pop_back();
        if (!word.empty() && std::find(std::begin(kNoise), std::end(kNoise), word) == std::end(kNoise))
            kept += (kept.empty() ? "" : "_") + word;
        at = end + 1;
    }
    return kept.empty() ? low : kept;
}

/// Style index of each name of a trace: a SliceClass, or from kSliceClasses on a name colour.
class SliceColors::Table {
public:
    Table(std::shared_ptr<const Trace> trace, ColorBy by) : m_trace(std::move(trace)), m_by(by) {}

    int styleOf(ActivityKind kind, StringId name)
    {
        const std::size_t index = std::size_t{name.value} * profiler::kActivityKinds + static_cast<std::size_t>(kind);
        if (index >= m_known.size())
            m_known.resize((std::size_t{name.value} + 1) * 3 / 2 * profiler::kActivityKinds + profiler::kActivityKinds,
                           kUnknown);
        if (m_known[index] == kUnknown)
            m_known[index] = lookUp(kind, m_trace->string(name));
        return m_known[index];
    }

private:
    [[nodiscard]] std::uint8_t lookUp(ActivityKind kind, std::string_view name) const
    {
        const SliceClass own = classify(kind, name);
        if (m_by == ColorBy::Kind || keepsItsOwn(own))
            return static_cast<std::uint8_t>(own);
        const std::uint64_t hash = m_by == ColorBy::Op ? stableHash(opFamily(name)) : stableHash(name);
        return static_cast<std::uint8_t>(kSliceClasses + static_cast<int>(hash % kNameColors));
    }

    std::shared_ptr<const Trace> m_trace;
    ColorBy m_by;
    std::vector<std::uint8_t> m_known; ///< by name and kind; 255: not looked up
};

namespace {

const ClassStyle& styleNumber(int style, bool dark)
{
    return style < kSliceClasses ? classStyle(static_cast<SliceClass>(style), dark)
                                 : nameStyle(style - kSliceClasses, dark);
}

} // namespace

class SliceColors::Palette : public profiler::SlicePalette {
public:
    Palette(std::shared_ptr<Table> table, bool dark) : m_table(std::move(table))
    {
        for (std::size_t style = 0; style < m_colors.size(); ++style) {
            const QColor& fill = styleNumber(static_cast<int>(style), dark).fill;
            m_colors[style] = {static_cast<float>(fill.red()), static_cast<float>(fill.green()),
                               static_cast<float>(fill.blue())};
        }
    }
    [[nodiscard]] profiler::MixedColor colorOf(ActivityKind kind, StringId name) const override
    {
        return m_colors[static_cast<std::size_t>(m_table->styleOf(kind, name))];
    }

private:
    std::shared_ptr<Table> m_table;
    std::array<profiler::MixedColor, kSliceClasses + kNameColors> m_colors;
};

SliceColors::SliceColors(std::shared_ptr<const Trace> trace, ColorBy by) : m_by(by)
{
    if (!trace)
        return;
    m_table = std::make_shared<Table>(std::move(trace), by);
    m_light = std::make_shared<Palette>(m_table, false);
    m_dark = std::make_shared<Palette>(m_table, true);
}

const ClassStyle& SliceColors::operator()(ActivityKind kind, StringId name, bool dark) const
{
    return styleNumber(m_table->styleOf(kind, name), dark);
}

double shownShare(double busy)
{
    constexpr double kFaintest = 0.12; // minimum share at which a pixel is clearly not empty
    return std::clamp(busy, kFaintest, 1.0);
}

QRgb mixedPixel(const profiler::MixedColor& color)
{
    const auto part = [](float value) { return static_cast<int>(std::clamp(value, 0.0F, 255.0F) + 0.5F); };
    return qRgb(part(color.red), part(color.green), part(color.blue));
}

} // namespace app
