#pragma once

namespace app::terminal {

/// From now on, SIGINT (Ctrl-C) and SIGTERM are counted and no longer end the process.
void catchInterrupts();
/// The number of these signals so far.
int interrupts();

} // namespace app::terminal
