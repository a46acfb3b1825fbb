#pragma once

#include "profiler/os/files.h"
#include "profiler/os/process.h"

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

/// What processes use to exchange data: pipes, sockets, terminals and files in memory, and waiting for them; and the
/// address at which processes of other machines find this one. Calls continue after an interrupting signal (EINTR).
/// Functions that return a Descriptor or an optional set errno if they fail. New descriptors are closed by exec.
namespace profiler::os {

/// Its descriptors, like those of makeSocketPair() and makeMemoryFile(), have numbers above 2.
struct Pipe {
    Descriptor reading, writing;
};
std::optional<Pipe> makePipe();
/// Two connected stream sockets. Unlike a pipe, writing without a reader need not raise SIGPIPE; see sendAll().
std::optional<std::pair<Descriptor, Descriptor>> makeSocketPair();
/// A file in memory that contains `text`. It disappears with its last descriptor, however the processes end.
Descriptor makeMemoryFile(std::string_view text);

/// Whether the number belongs to an open file.
bool isOpen(int descriptor);
bool isTerminal(int descriptor);
/// False if what is written to this pipe, socket or terminal can no longer be read.
bool hasReader(int descriptor);
/// Reads and writes return EAGAIN instead of waiting. Also affects the processes that share the open file.
void setNonBlocking(int descriptor);
/// Whether a program started by exec inherits the descriptor.
void setInherited(int descriptor, bool isInherited);

/// A descriptor to wait for.
struct Awaited {
    int descriptor = -1;  ///< negative: ignored
    bool isReady = false; ///< set by waitForAny(): readable, or closed by the other side
};
/// Waits until one of the descriptors is ready, or until the timeout; without one, as long as it takes. A signal may
/// end the wait early.
void waitForAny(std::span<Awaited> awaited, std::optional<std::chrono::milliseconds> atMost);
void waitForAny(std::span<const int> descriptors, std::chrono::milliseconds atMost);
/// Waits until the descriptor accepts data, or until the timeout.
void waitForRoom(int descriptor, std::chrono::milliseconds atMost);

/// Appends the next bytes to `text`, waiting for them unless the descriptor is non-blocking. Returns false at the end
/// of the data and after an error.
bool readNext(int descriptor, std::string& text);
/// Appends all data that can be read without waiting to `text`. Returns false at the end of the data.
/// @param descriptor  non-blocking
bool readAvailable(int descriptor, std::string& text);
/// Sends all of `text`, waiting at most `atMost` for a slow reader. Returns false, with errno set, if the reader has
/// gone or does not read.
bool sendAll(int socket, std::string_view text, std::chrono::milliseconds atMost);

/// One end of a connection between processes of one user on one machine.
struct LocalPeer {
    Descriptor socket;     ///< non-blocking
    ProcessId process = 0; ///< process that connected
};

/// Accepts connections: a Unix stream socket in Linux's abstract namespace (unix(7)), which needs no file and
/// disappears with its last owner. Not thread-safe.
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

/// A TCP port on which no process of this machine is listening now; 0, with errno set, if there is none. Another
/// process may take it before it is used.
int freePort();
/// The address of this machine on the route to `host`. Sends nothing except for a look-up of the name.
/// @param why  receives the reason if there is no route
/// @return empty if there is no route
std::string ownAddressTowards(const std::string& host, std::string& why);

} // namespace profiler::os
