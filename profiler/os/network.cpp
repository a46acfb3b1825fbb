#include "profiler/os/network.h"

#include "profiler/os/descriptor.h"

#include <cerrno>
#include <cstring>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace profiler::os {

namespace {

/// Empty, with errno set, if no route leads there.
std::string routedBy(const addrinfo& there)
{
    // Connecting a datagram socket selects a route without sending anything.
    Descriptor socket(::socket(there.ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (!socket)
        return {};
    sockaddr_storage here{};
    socklen_t size = sizeof here;
    char text[NI_MAXHOST] = "";
    auto* const address = reinterpret_cast<sockaddr*>(&here);
    if (::connect(socket.get(), there.ai_addr, there.ai_addrlen) == 0 &&
        ::getsockname(socket.get(), address, &size) == 0)
        ::getnameinfo(address, size, text, sizeof text, nullptr, 0, NI_NUMERICHOST);
    const int number = errno;
    socket.reset();
    errno = number;
    return text;
}

} // namespace

int freePort()
{
    const Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (!socket || ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), size) != 0 ||
        ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0)
        return 0;
    return ntohs(address.sin_port);
}

std::string ownAddressTowards(const std::string& host, std::string& why)
{
    addrinfo wanted{}, *found = nullptr;
    wanted.ai_socktype = SOCK_DGRAM;
    // getaddrinfo needs a port; its value does not matter.
    if (const int failure = ::getaddrinfo(host.c_str(), "9", &wanted, &found); failure != 0) {
        why = ::gai_strerror(failure);
        return {};
    }
    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> all(found, ::freeaddrinfo);
    for (const addrinfo* there = found; there; there = there->ai_next)
        if (std::string here = routedBy(*there); !here.empty())
            return here;
    why = std::strerror(errno);
    return {};
}

} // namespace profiler::os
