#pragma once

#include "profiler/model/trace.h"

#include <QColor>
#include <QString>
#include <cstdint>
#include <string_view>
#include <vector>

namespace app {

/// What a colour of ours means, everywhere the same.
enum class SliceClass : std::uint8_t {
    Other,
    Step,
    DataWait, ///< the training waits for its input
    Idle,     ///< a loader worker that waits
    Sync,     ///< a host thread waits for the device
    CopyToDevice,
    CopyToHost, ///< and reading values back
    CopyOther,
    Memset, ///< and zeroing gradients
    Forward,
    Backward,
    Optimizer,
    Validation,
    Matrix,    ///< convolutions, matrix products, attention
    Reduction, ///< norms, pooling, sums, softmax
    Compute,   ///< any other computation
    Communication,
    LoaderRead,
    LoaderDecode,
    LoaderAugment,
    LoaderCollate,
    LoaderPin,
    Runtime,    ///< calls into CUDA
    Overhead,   ///< the profiler's or driver's own, starting workers
    Annotation, ///< named ranges of the user's program
};
inline constexpr int kSliceClasses = static_cast<int>(SliceClass::Annotation) + 1;

/// Never colour alone: waits are hatched too.
enum class FillPattern : std::uint8_t { Solid, Hatch, SparseHatch };

/// How a class is drawn. Okabe and Ito's palette, extended by shades of its green for computation.
struct ClassStyle {
    QColor fill;
    QColor second; ///< the hatch's other colour; the fill where solid
    QColor text;   ///< black or white, whichever reads better on the fill; at least 4.5 : 1
    QColor edge;   ///< outline; at least 1.4 : 1 against the fill
    FillPattern pattern = FillPattern::Solid;
};

SliceClass classify(profiler::ActivityKind kind, std::string_view name);
const ClassStyle& classStyle(SliceClass which, bool dark);
/// The word that goes with the colour: "waiting for data".
QString className(SliceClass which);

/// WCAG 2 contrast ratio of two opaque colours, 1 to 21.
double contrastRatio(const QColor& a, const QColor& b);

/// Classes of the names of one trace, looked up once a name. Made for a trace, which must live as long: ids of names
/// mean nothing in another one.
class ClassLookup {
public:
    explicit ClassLookup(const profiler::Trace& trace) : m_trace(trace) {}
    SliceClass operator()(profiler::ActivityKind kind, profiler::StringId name);

private:
    const profiler::Trace& m_trace;
    /// By string and by kind, since a name may occur with several kinds; 255: not looked up yet.
    std::vector<std::uint8_t> m_known;
};

} // namespace app
