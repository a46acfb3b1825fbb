#pragma once

#include <QString>

namespace app {

class Session;

/// What recording costs the run on screen, as it measured itself, or as it was measured on this machine before.
struct OverheadText {
    QString text; ///< "3.1 % overhead with operators"; empty: nobody knows
    QString how;  ///< where the figure is from
};
/// Looks at every step of the analysis: not for each frame.
OverheadText overheadText(const Session& session);

} // namespace app
