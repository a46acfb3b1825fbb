#pragma once

namespace app {

/// Time since the kernel created this process, including loading its libraries. The resolution is one kernel tick,
/// usually 10 ms. Source: field 22 of /proc/self/stat compared with CLOCK_BOOTTIME.
double millisecondsSinceProcessStart();

} // namespace app
