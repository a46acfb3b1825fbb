#pragma once

#include <QString>

namespace app {

class TraceDocument;

/// The recording overhead of the trace on screen, measured by the run itself; at its start, from an earlier measurement
/// on this machine.
struct OverheadText {
    QString text; ///< "Recording at level full adds 3.1 % to a step with operators and 0.3 % to the run"; empty:
                  ///< unknown
    QString how;  ///< source of the figure, its uncertainty, and alternative levels
};
/// Iterates over all steps: do not call per frame.
OverheadText overheadText(const TraceDocument& document);

} // namespace app
