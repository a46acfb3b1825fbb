#pragma once

#include "app/look/kind_palette.h"
#include "profiler/model/row_mix.h"

#include <QString>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace app {

/// What the timeline's colours tell apart.
enum class ColorBy : std::uint8_t {
    Kind, ///< what an activity is for, as everywhere else in the app
    Name, ///< each name has its own
    Op,   ///< each operation: an operator, its backward and its kernels' family share one
};

/// Colours of names: so many, told apart with any of the common kinds of colour blindness.
inline constexpr int kNameColors = 10;
const ClassStyle& nameStyle(int index, bool dark);

/// What a name is about, without what varies between its calls: "aten::conv2d", "ConvolutionBackward0" and
/// "cudnn::…::convolve_sgemm<…>" are all "conv".
std::string opFamily(std::string_view name);
/// The same for the same text in every run and on every machine. Source: FNV-1a, 64 bits.
std::uint64_t stableHash(std::string_view text);

/// Styles of the slices of one trace in one scheme, looked up once a name. Waits, idleness and steps keep their own in
/// every scheme. Made for a trace, which it keeps: ids of names mean nothing in another one. Copies share what was
/// looked up. GUI thread.
class SliceColors {
public:
    SliceColors() = default;
    SliceColors(std::shared_ptr<const profiler::Trace> trace, ColorBy by);
    [[nodiscard]] ColorBy scheme() const { return m_by; }

    /// Of a slice of the trace; there must be one.
    const ClassStyle& operator()(profiler::ActivityKind kind, profiler::StringId name, bool dark) const;
    /// The same as colours to mix: sRGB values, 0 to 255. Mixing these, rather than light, makes a share of half look
    /// like half on a light ground as well as on a dark one: sRGB is nearly even to the eye. Null without a trace.
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

/// A colour of a mix as a pixel.
QRgb mixedPixel(const profiler::MixedColor& color);
/// Share of a pixel that is drawn in its slices' colour, the rest being ground: the share of time that they take, but
/// so much at least that a pixel that holds anything never looks empty.
double shownShare(double busy);

} // namespace app
