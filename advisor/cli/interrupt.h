#pragma once

namespace advisor::cli {

/// Counts Ctrl-C (SIGINT) and SIGTERM instead of dying of them, from now on.
void catchInterrupts();
/// How often so far.
int interrupts();

} // namespace advisor::cli
