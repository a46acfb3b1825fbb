#pragma once

#include "profiler/model/result.h"

#include <string>

namespace trainer {

/// The address of this machine on the way to another, as the system's routes have it. Nothing is sent.
/// @param host  a name or an address
/// @return in numbers: "192.168.1.7". Fails where the name is not known, or no route leads there. Any thread
profiler::Result<std::string> addressTowards(const std::string& host);

/// The address of this machine on the way to hosts that are not near: that of its default route.
profiler::Result<std::string> addressTowardsAnywhere();

/// Whether only this machine's own processes reach such an address, which is in numbers.
bool isLoopback(const std::string& address);

} // namespace trainer
