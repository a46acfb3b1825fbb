#pragma once

/// The calling thread: its id, name and cores.
namespace profiler::os {

/// The kernel's id of the calling thread; equals processId() in the main thread.
int threadId();
/// The name that debuggers and other tools show for the calling thread.
/// @param name  at most 15 bytes
void nameThread(const char* name);
/// Number of cores on which the calling thread may run.
int allowedCores();

} // namespace profiler::os
