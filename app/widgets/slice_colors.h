#pragma once

#include "app/look/kind_palette.h"

#include <QString>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

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

/// Styles of the slices of one trace, looked up once a name. Waits, idleness and steps keep their own in every scheme.
class SliceColors {
public:
    /// Another trace: its names are others.
    void reset() { m_known.clear(); }
    void setScheme(ColorBy by);
    [[nodiscard]] ColorBy scheme() const { return m_by; }

    const ClassStyle& operator()(const profiler::Trace& trace, profiler::ActivityKind kind, profiler::StringId name,
                                 bool dark);
    SliceClass classOf(const profiler::Trace& trace, profiler::ActivityKind kind, profiler::StringId name)
    {
        return m_classes(trace, kind, name);
    }

private:
    [[nodiscard]] std::uint8_t lookUp(const profiler::Trace& trace, profiler::ActivityKind kind,
                                      profiler::StringId name);

    ColorBy m_by = ColorBy::Kind;
    ClassLookup m_classes;
    std::vector<std::uint8_t> m_known; ///< by string and kind; 255: not looked up; from kSliceClasses on: a name's
};

} // namespace app
