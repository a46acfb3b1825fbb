#pragma once

#include "profiler/model/result.h"
#include "profiler/os/files.h"
#include "profiler/os/process.h"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace advisor::runner {

/// A client that runs a script in the other place, with its streams. They do not block.
struct RemoteLink {
    profiler::os::Descriptor input, output, errors;
    profiler::os::ProcessId process = 0; ///< of the client; the owner of the link waits for its end
};

/// Another machine, a container or an allocation, where shell scripts can be run: through OpenSSH's client, with the
/// user's own configuration, keys and agent, or through any other command. Passwords are a matter between the client
/// and the terminal; nothing about them passes through here.
class RemoteHost {
public:
    /// @param name  as for `ssh`: a host, user@host, or a name in ~/.ssh/config
    static profiler::Result<RemoteHost> overSsh(const std::string& name);
    /// @param command  the words before the command in the other place: "docker exec -i NAME"
    static profiler::Result<RemoteHost> through(const std::string& command);
    RemoteHost(RemoteHost&& other) noexcept;
    RemoteHost& operator=(RemoteHost&&) = delete;
    /// Closes the connection that all scripts share.
    ~RemoteHost();

    /// For messages.
    [[nodiscard]] const std::string& name() const { return m_name; }

    struct Ran {
        profiler::os::ExitStatus end;
        std::string errors; ///< the last lines of standard error; untrusted text
        bool stopped = false;
    };
    /// Called with each piece of the script's output; false ends the connection.
    using Take = std::function<bool(std::string_view)>;
    /// Called about ten times per second; false ends the connection.
    using GoesOn = std::function<bool()>;
    /// Runs a script with sh. Fails if the client cannot be started.
    /// @param input  what the script can read
    /// @param keepsInput  its standard input ends only when the connection ends, which the script can notice
    profiler::Result<Ran> run(const std::string& script, std::string_view input, const Take& take, const GoesOn& goesOn,
                              bool keepsInput = false) const;
    /// Starts a script that answers requests.
    [[nodiscard]] profiler::Result<RemoteLink> start(const std::string& script) const;

private:
    RemoteHost() = default;

    std::string m_name;
    std::vector<std::string> m_words; ///< in front of the script
    bool m_isShell = false;           ///< the other side gives one word to a shell
    std::filesystem::path m_control;  ///< folder of the shared connection; empty: there is none
};

} // namespace advisor::runner
