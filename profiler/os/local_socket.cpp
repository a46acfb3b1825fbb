#include "profiler/os/local_socket.h"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string_view>
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

} // namespace profiler::os
