#pragma once

#include "app/look/kind_palette.h"
#include "profiler/model/row_mix.h"

#include <QString>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace app {

/// What the colours of the timeline represent.
enum class ColorBy : std::uint8_t {
    Kind, ///< the kind of activity, as in all other views
    Name, ///< one colour per name
    Op,   ///< one colour per operation: an operator, its backward and its kernels share it
};

/// Number of name colours that are distinguishable with the common kinds of colour blindness.
inline constexpr int kNameColors = 10;
const ClassStyle& nameStyle(int index, bool dark);

/// The operation of a name, without details that vary between its variants: "aten::conv2d", "ConvolutionBackward0" and
/// "cudnn::…::convolve_sgemm<…>" are all "conv".
std::string opFamily(std::string_view name);
/// A hash of the text that is equal in every run and on every machine. Source: FNV-1a, 64 bits.
std::uint64_t stableHash(std::string_view text);

/// Styles of the slices of one trace in one colour scheme; each name is looked up once. Waits, idle time and steps keep
/// their colours in every scheme. Holds its trace, because name ids are valid only there. Copies share the cache. GUI
/// thread.
class SliceColors {
public:
    SliceColors() = default;
    SliceColors(std::shared_ptr<const profiler::Trace> trace, ColorBy by);
    [[nodiscard]] ColorBy scheme() const { return m_by; }

    /// Style of a slice; requires a trace.
    const ClassStyle& operator()(profiler::ActivityKind kind, profiler::StringId name, bool dark) const;
    /// The same as colours for mixing: sRGB values, 0 to 255. Mixing sRGB values, rather than linear light, makes a
    /// half share look like half on light and dark backgrounds, because sRGB is nearly uniform perceptually. Null
    /// without a trace.
    [[nodiscard]] std::shared_ptr<const profiler::SlicePalette> palette(bool dark) const
    {
        return dark ? m_dark : m_light;
    }

private:
    class Table;
    class Palette;

    ColorBy m_by = ColorBy::Kind;
    std::shared_ptr<Table> m_table;
    std::shared_ptr<const profiler::SlicePalette> m_light, m_dark;
};

/// A mixed colour as a pixel.
QRgb mixedPixel(const profiler::MixedColor& color);
/// Share of a pixel drawn in the colours of its slices, the rest being background: the share of time of the slices, but
/// with a minimum so that a pixel with content never looks empty.
double shownShare(double busy);

} // namespace app
