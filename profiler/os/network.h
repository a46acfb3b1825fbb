#pragma once

#include <string>

/// What processes on different machines need to find each other.
namespace profiler::os {

/// A TCP port on which no process of this machine is listening now; 0, with errno set, if there is none. Another
/// process may take it before it is used.
int freePort();
/// The address of this machine on the route to `host`. Sends nothing except for a look-up of the name.
/// @param why  receives the reason if there is no route
/// @return empty if there is no route
std::string ownAddressTowards(const std::string& host, std::string& why);

} // namespace profiler::os
