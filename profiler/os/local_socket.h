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
/// (unix(7)), which need no file and disappear with their last owner.
namespace profiler::os {

/// One end of a connection.
struct LocalPeer {
    Descriptor socket; ///< non-blocking
    pid_t process = 0; ///< process that connected
};

/// Accepts connections. Not thread-safe.
class LocalListener {
public:
    /// Listens under a unique name that cannot be guessed.
    /// @return nullopt, with errno set, on failure
    static std::optional<LocalListener> make();
    /// The name for other processes to connect to, without the leading zero byte.
    [[nodiscard]] const std::string& name() const { return m_name; }
    [[nodiscard]] int descriptor() const { return m_socket.get(); }
    /// The next connection from a process of this user or of root; others are closed. nullopt if there is none now.
    std::optional<LocalPeer> accept();

private:
    LocalListener() = default;
    std::string m_name;
    Descriptor m_socket;
};

/// Waits until one of the descriptors is readable or closed, or until the timeout. Negative descriptors are ignored.
void waitForAny(std::span<const int> descriptors, std::chrono::milliseconds atMost);
/// Appends all data that can be read without waiting to `text`. Returns false at the end of the data.
bool readAvailable(int descriptor, std::string& text);
/// Sends all of `text`, waiting at most `atMost` for a slow reader. Returns false if the reader has gone or does not
/// read.
bool sendAll(int socket, std::string_view text, std::chrono::milliseconds atMost);
/// A TCP port on which no process is listening now; 0 if there is none.
int freePort();

} // namespace profiler::os
