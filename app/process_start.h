#pragma once

namespace app {

/// Time since the kernel made this process, with the loading of its libraries. Resolution: a tick of the kernel, 10 ms
/// as a rule. Source: field 22 of /proc/self/stat against CLOCK_BOOTTIME.
double millisecondsSinceProcessStart();

} // namespace app
