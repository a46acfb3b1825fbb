#pragma once

#include <QString>

namespace app {

class Session;

/// What recording costs the run on screen, as it measured itself, or while it starts as it was measured on this machine
/// before.
struct OverheadText {
    QString text; ///< "Recording at level full adds 3.1 % to a step with operators, 0.3 % to the run"; empty: not known
    QString how;  ///< where the figure is from, how certain it is, and which level to choose instead
};
/// Looks at every step of the analysis: not for each frame.
OverheadText overheadText(const Session& session);

} // namespace app
