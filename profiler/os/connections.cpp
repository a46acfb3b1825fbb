#include "profiler/os/connections.h"

#include "profiler/os/files.h"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <string_view>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <vector>

namespace profiler::os {

namespace {

int milliseconds(std::optional<std::chrono::milliseconds> atMost)
{
    return atMost ? static_cast<int>(atMost->count()) : -1;
}

/// Both ends, if both could be moved above the standard streams.
std::optional<std::pair<Descriptor, Descriptor>> adopt(const std::array<int, 2>& ends)
{
    std::pair<Descriptor, Descriptor> adopted(aboveStandardStreams(ends[0]), aboveStandardStreams(ends[1]));
    return adopted.first && adopted.second ? std::optional(std::move(adopted)) : std::nullopt;
}

// All processes of a program, ranks and their launchers, may connect before the listener accepts the first of them.
constexpr int kMostWaiting = 1024;

std::string randomName()
{
    std::array<unsigned char, 16> bytes{};
    if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
        return {};
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string name = "stepscope-";
    for (const unsigned char byte : bytes) {
        name += kDigits[byte >> 4U];
        name += kDigits[byte & 15U];
    }
    return name;
}

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

std::optional<Pipe> makePipe()
{
    std::array<int, 2> ends{};
    auto adopted = ::pipe2(ends.data(), O_CLOEXEC) == 0 ? adopt(ends) : std::nullopt;
    if (!adopted)
        return std::nullopt;
    return Pipe{std::move(adopted->first), std::move(adopted->second)};
}

std::optional<std::pair<Descriptor, Descriptor>> makeSocketPair()
{
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
        return std::nullopt;
    return adopt(ends);
}

Descriptor makeMemoryFile(std::string_view text)
{
    Descriptor file = aboveStandardStreams(::memfd_create("stepscope", MFD_CLOEXEC));
    if (!file)
        return file;
    if (const int error = writeAll(file.get(), text).error) {
        file.reset();
        errno = error;
    }
    return file;
}

bool isOpen(int descriptor)
{
    return ::fcntl(descriptor, F_GETFD) >= 0;
}

bool isTerminal(int descriptor)
{
    return ::isatty(descriptor) == 1;
}

bool hasReader(int descriptor)
{
    pollfd output{descriptor, POLLOUT, 0};
    return ::poll(&output, 1, 0) <= 0 || (output.revents & (POLLERR | POLLHUP)) == 0;
}

void setNonBlocking(int descriptor)
{
    ::fcntl(descriptor, F_SETFL, ::fcntl(descriptor, F_GETFL) | O_NONBLOCK);
}

void setInherited(int descriptor, bool isInherited)
{
    ::fcntl(descriptor, F_SETFD, isInherited ? 0 : FD_CLOEXEC);
}

void waitForAny(std::span<Awaited> awaited, std::optional<std::chrono::milliseconds> atMost)
{
    std::vector<pollfd> watched;
    for (const Awaited& each : awaited)
        watched.push_back({each.descriptor, POLLIN, 0});
    const bool isAnyReady = ::poll(watched.data(), watched.size(), milliseconds(atMost)) > 0;
    for (std::size_t i = 0; i < watched.size(); ++i)
        awaited[i].isReady = isAnyReady && watched[i].revents != 0;
}

void waitForAny(std::span<const int> descriptors, std::chrono::milliseconds atMost)
{
    std::vector<Awaited> awaited;
    for (const int descriptor : descriptors)
        awaited.push_back({descriptor});
    waitForAny(std::span(awaited), atMost);
}

void waitForRoom(int descriptor, std::chrono::milliseconds atMost)
{
    pollfd writable{descriptor, POLLOUT, 0};
    ::poll(&writable, 1, milliseconds(atMost));
}

bool readNext(int descriptor, std::string& text)
{
    std::array<char, 4096> buffer; // NOLINT: filled by read
    for (;;) {
        const ssize_t got = ::read(descriptor, buffer.data(), buffer.size());
        if (got < 0 && errno == EINTR)
            continue;
        if (got > 0)
            text.append(buffer.data(), static_cast<std::size_t>(got));
        return got > 0 || (got < 0 && errno == EAGAIN);
    }
}

bool readAvailable(int descriptor, std::string& text)
{
    constexpr std::size_t kMostAtOnce = 1 << 20; // so that a program that floods the socket cannot block its reader
    std::array<char, 16384> buffer;              // NOLINT: filled by read
    for (std::size_t total = 0; total < kMostAtOnce;) {
        const ssize_t got = ::read(descriptor, buffer.data(), buffer.size());
        if (got == 0)
            return false;
        if (got < 0 && errno != EINTR)
            return errno == EAGAIN;
        if (got > 0) {
            text.append(buffer.data(), static_cast<std::size_t>(got));
            total += static_cast<std::size_t>(got);
        }
    }
    return true;
}

bool sendAll(int socket, std::string_view text, std::chrono::milliseconds atMost)
{
    const auto until = std::chrono::steady_clock::now() + atMost;
    while (!text.empty()) {
        const ssize_t sent = ::send(socket, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent > 0) {
            text.remove_prefix(static_cast<std::size_t>(sent));
            continue;
        }
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
        if (sent < 0 && errno != EAGAIN && errno != EINTR)
            return false;
        if (left.count() <= 0)
            return false;
        waitForRoom(socket, left);
    }
    return true;
}

std::optional<LocalListener> LocalListener::make()
{
    LocalListener listener;
    listener.m_name = randomName();
    listener.m_socket = Descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (listener.m_name.empty() || !listener.m_socket)
        return std::nullopt;
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path + 1, listener.m_name.data(), listener.m_name.size());
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + listener.m_name.size());
    if (::bind(listener.m_socket.get(), reinterpret_cast<const sockaddr*>(&address), length) != 0 ||
        ::listen(listener.m_socket.get(), kMostWaiting) != 0)
        return std::nullopt;
    return listener;
}

std::optional<LocalPeer> LocalListener::accept()
{
    for (;;) {
        LocalPeer peer;
        peer.socket = Descriptor(::accept4(m_socket.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
        if (!peer.socket) {
            if (errno == EINTR || errno == ECONNABORTED)
                continue;
            return std::nullopt;
        }
        ucred user{};
        socklen_t size = sizeof user;
        if (::getsockopt(peer.socket.get(), SOL_SOCKET, SO_PEERCRED, &user, &size) != 0 ||
            (user.uid != ::geteuid() && user.uid != 0))
            continue;
        peer.process = user.pid;
        return peer;
    }
}

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
