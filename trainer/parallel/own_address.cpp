#include "trainer/parallel/own_address.h"

#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace trainer {

using profiler::Error;
using profiler::Result;

namespace {

tl::unexpected<Error> unreachable(const std::string& host, const char* why)
{
    return profiler::fail<"ranks.unreachable", "This machine cannot reach {host}: {why}">(
        Error::Code::Unavailable, "MASTER_ADDR", "give the address of the host of rank 0",
        {{"host", host}, {"why", why}});
}

// Empty if no route leads there; errno contains the reason.
std::string routedBy(const addrinfo& there)
{
    // Connecting a datagram socket selects a route without sending anything.
    const int socket = ::socket(there.ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (socket < 0)
        return {};
    sockaddr_storage here{};
    socklen_t size = sizeof(here);
    char text[NI_MAXHOST] = "";
    auto* const address = reinterpret_cast<sockaddr*>(&here);
    if (::connect(socket, there.ai_addr, there.ai_addrlen) == 0 && ::getsockname(socket, address, &size) == 0)
        ::getnameinfo(address, size, text, sizeof(text), nullptr, 0, NI_NUMERICHOST);
    const int why = errno;
    ::close(socket);
    errno = why;
    return text;
}

} // namespace

Result<std::string> addressTowards(const std::string& host)
{
    addrinfo wanted{}, *found = nullptr;
    wanted.ai_socktype = SOCK_DGRAM;
    // getaddrinfo needs a port; its value does not matter.
    if (const int failure = ::getaddrinfo(host.c_str(), "9", &wanted, &found); failure != 0)
        return unreachable(host, ::gai_strerror(failure));
    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> all(found, ::freeaddrinfo);
    for (const addrinfo* there = found; there; there = there->ai_next)
        if (const std::string here = routedBy(*there); !here.empty())
            return here;
    return unreachable(host, std::strerror(errno));
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
