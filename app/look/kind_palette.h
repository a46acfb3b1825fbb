#pragma once

#include "profiler/model/trace.h"

#include <QColor>
#include <QPainter>
#include <QPixmap>
#include <QString>
#include <cstdint>
#include <string_view>
#include <vector>

namespace app {

/// The meaning of a colour, the same in every view.
enum class SliceClass : std::uint8_t {
    Other,
    Step,
    DataWait, ///< the training waits for its input
    Idle,     ///< a loader worker waits
    Sync,     ///< a host thread waits for the device
    CopyToDevice,
    CopyToHost, ///< and reading values back
    CopyOther,
    Memset, ///< and zeroing gradients
    Forward,
    Backward,
    Optimizer,
    Validation,
    Matrix,    ///< convolutions, matmuls, attention
    Reduction, ///< normalization, pooling, reductions, softmax
    Compute,   ///< other compute
    Communication,
    LoaderRead,
    LoaderDecode,
    LoaderAugment,
    LoaderCollate,
    LoaderPin,
    Runtime,    ///< CUDA calls
    Overhead,   ///< overhead of the profiler or driver, starting workers
    Annotation, ///< named ranges of the user's program
};
inline constexpr int kSliceClasses = static_cast<int>(SliceClass::Annotation) + 1;

/// Colour is never the only cue: waits are also hatched.
enum class FillPattern : std::uint8_t { Solid, Hatch, SparseHatch };

/// How a class is drawn. The palette of Okabe and Ito, extended by shades of its green for compute.
struct ClassStyle {
    QColor fill;
    QColor second; ///< second colour of the hatch; the fill colour if solid
    QColor text;   ///< black or white, whichever has more contrast with the fill; at least 4.5 : 1
    QColor edge;   ///< outline; at least 1.4 : 1 against the fill
    FillPattern pattern = FillPattern::Solid;
};

SliceClass classify(profiler::ActivityKind kind, std::string_view name);
const ClassStyle& classStyle(SliceClass which, bool dark);
/// The label of the colour: "waiting for data".
QString className(SliceClass which);

/// WCAG 2 contrast ratio of two opaque colours, 1 to 21.
double contrastRatio(const QColor& a, const QColor& b);

/// Caches the classes of the names of one trace, so that each name is looked up once. The trace must outlive this
/// object: name ids are valid only for their own trace.
class ClassLookup {
public:
    explicit ClassLookup(const profiler::Trace& trace) : m_trace(trace) {}
    SliceClass operator()(profiler::ActivityKind kind, profiler::StringId name);

private:
    const profiler::Trace& m_trace;
    /// By name and kind, because a name may occur with several kinds; 255: not looked up yet.
    std::vector<std::uint8_t> m_known;
};

/// A small square in the colour and pattern of a class, for legends and tables.
QPixmap swatch(SliceClass which, bool dark, double devicePixelRatio = 2);

/// Fills a rectangle like a slice of that class, including the hatch.
void fillAs(QPainter& painter, const QRectF& rect, SliceClass which, bool dark);

} // namespace app
