#pragma once

#include "profiler/model/result.h"

#include <string>

namespace trainer {

/// The local address that the system's routes use to reach a host. Sends nothing.
/// @param host  a name or an address
/// @return numeric: "192.168.1.7". Fails if the name is unknown or no route leads there. Any thread
profiler::Result<std::string> addressTowards(const std::string& host);

/// The local address for remote hosts: that of the default route.
profiler::Result<std::string> addressTowardsAnywhere();

/// Whether a numeric address can only be reached from this machine itself.
bool isLoopback(const std::string& address);

} // namespace trainer
