#include "trainer/parallel/own_address.h"

#include "profiler/os/network.h"

namespace trainer {

using profiler::Error;
using profiler::Result;

Result<std::string> addressTowards(const std::string& host)
{
    std::string why;
    std::string address = profiler::os::ownAddressTowards(host, why);
    if (address.empty())
        return profiler::fail<"ranks.unreachable", "This machine cannot reach {host}: {why}">(
            Error::Code::Unavailable, "MASTER_ADDR", "give the address of the host of rank 0",
            {{"host", host}, {"why", why}});
    return address;
}

Result<std::string> addressTowardsAnywhere()
{
    return addressTowards("198.51.100.1"); // from RFC 5737: no machine has this address
}

bool isLoopback(const std::string& address)
{
    return address.starts_with("127.") || address == "::1";
}

} // namespace trainer
