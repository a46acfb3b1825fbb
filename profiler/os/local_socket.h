#pragma once

#include "profiler/os/descriptor.h"

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

/// Connections between processes of one user on one machine: Unix stream sockets in Linux's abstract namespace
/// (unix(7)), which need no file and go away with their last owner.
namespace profiler::os {

/// One end of a connection.
struct LocalPeer {
    Descriptor socket; ///< does not block
    pid_t process = 0; ///< that connected
};

/// Takes connections. Not thread-safe.
class LocalListener {
public:
    /// Listens under a name of its own, which cannot be guessed.
    /// @return nothing, with errno
    static std::optional<LocalListener> make();
    /// What another process connects to, without the leading zero byte.
    [[nodiscard]] const std::string& name() const { return m_name; }
    [[nodiscard]] int descriptor() const { return m_socket.get(); }
    /// The next connection of a process of this user, or of root; others are closed. nullopt: there is none now.
    std::optional<LocalPeer> accept();

private:
    LocalListener() = default;
    std::string m_name;
    Descriptor m_socket;
};

/// Waits until one of the descriptors can be read or is closed, or the time is over. Negative ones are left out.
void waitForAny(std::span<const int> descriptors, std::chrono::milliseconds atMost);
/// Appends what can be read without waiting to `text`. False at the end of the data.
bool readAvailable(int descriptor, std::string& text);
/// Sends all of `text`; waits at most so long for a reader that is slow. False: it is gone, or does not read.
bool sendAll(int socket, std::string_view text, std::chrono::milliseconds atMost);
/// A TCP port that no process listens on now; 0: none is free.
int freePort();

} // namespace profiler::os
