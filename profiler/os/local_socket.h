#pragma once

#include "profiler/os/descriptor.h"
#include "profiler/os/pipes.h"
#include "profiler/os/process.h"

#include <optional>
#include <string>

/// Connections between processes of one user on one machine: Unix stream sockets in Linux's abstract namespace
/// (unix(7)), which need no file and disappear with their last owner. The functions of pipes.h send and receive.
namespace profiler::os {

/// One end of a connection.
struct LocalPeer {
    Descriptor socket;     ///< non-blocking
    ProcessId process = 0; ///< process that connected
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

} // namespace profiler::os
