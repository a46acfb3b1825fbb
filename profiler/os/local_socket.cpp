#include "profiler/os/local_socket.h"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <netinet/in.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace profiler::os {

namespace {

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

} // namespace

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

void waitForAny(std::span<const int> descriptors, std::chrono::milliseconds atMost)
{
    std::vector<pollfd> watched;
    for (const int descriptor : descriptors)
        watched.push_back({descriptor, POLLIN, 0});
    ::poll(watched.data(), watched.size(), static_cast<int>(atMost.count()));
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
        pollfd writable{socket, POLLOUT, 0};
        ::poll(&writable, 1, static_cast<int>(left.count()));
    }
    return true;
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

} // namespace profiler::os
