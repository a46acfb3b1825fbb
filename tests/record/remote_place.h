#pragma once

#include "tests/record/recorded_run.h"

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <thread>
#include <unistd.h>

/// Other places for tests: a command that runs another one with its own environment and home folder, and an sshd on
/// the loopback interface.
namespace record_test {

inline std::string textOf(const std::filesystem::path& path)
{
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// Another place: a home folder, and programs that differ from those of this machine.
class Place {
public:
    Place()
    {
        std::filesystem::create_directory(m_folder / "home");
        std::filesystem::create_directory(m_folder / "bin");
    }
    [[nodiscard]] const Folder& folder() const { return m_folder; }
    /// A program that the scripts there find first.
    void install(const std::string& name, const std::string& script) const
    {
        const auto path = m_folder.write("bin/" + name, "#!/bin/sh\n" + script);
        std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    }
    /// @param link  a program in front of the shell that the connection starts
    [[nodiscard]] std::string through(const std::string& link = {}) const
    {
        return "--through \"" + (link.empty() ? link : "'" + link + "' ") + "env -i HOME='" +
               (m_folder / "home").string() + "' PATH='" + (m_folder / "bin").string() + ":/usr/bin:/bin'\"";
    }
    [[nodiscard]] std::string recordLine(const std::string& command, const std::string& options = {},
                                         const std::string& link = {}) const
    {
        return std::string(STEPSCOPE_CLI) + " record -o '" + (m_folder / "t.sstrace").string() + "' " + through(link) +
               " " + options + " -- " + command;
    }
    [[nodiscard]] Ended record(const std::string& command, const std::string& options = {},
                               const std::string& link = {}) const
    {
        return shell(m_folder, recordLine(command, options, link));
    }
    /// Id of the error of a recording that fails.
    [[nodiscard]] std::string error(const std::string& command, const std::string& options = {},
                                    const std::string& link = {}) const
    {
        const auto report = m_folder / "report.json";
        std::filesystem::remove(report);
        EXPECT_NE(record(command, options + " --report '" + report.string() + "'", link).status, 0);
        const auto json = nlohmann::json::parse(textOf(report), nullptr, false);
        return json.is_object() && json.contains("error") ? json["error"]["id"].get<std::string>() : "";
    }
    /// Folders of jobs that are still there.
    [[nodiscard]] std::vector<std::string> jobs() const
    {
        std::vector<std::string> names;
        std::error_code none;
        for (const auto& entry :
             std::filesystem::directory_iterator(m_folder / "home/.cache/stepscope/remote/jobs", none))
            names.push_back(entry.path().filename().string());
        return names;
    }

private:
    Folder m_folder;
};

/// An sshd of the user on the loopback interface, with its own keys and configuration.
class Sshd {
public:
    Sshd()
    {
        const char* given = std::getenv("STEPSCOPE_SSHD");
        const std::string program = given ? given : "/usr/sbin/sshd";
        if (!std::filesystem::exists(program))
            return;
        const std::string at = (m_folder / "").string();
        const Ended keys = shell(m_folder, "for key in host user; do ssh-keygen -q -t ed25519 -N '' -f '" + at +
                                               "'$key || exit 1; done; cp '" + at + "user.pub' '" + at +
                                               "authorized'; chmod 700 '" + at + "'; chmod 600 '" + at + "authorized'");
        if (keys.status != 0)
            return;
        for (int port = 22000 + getpid() % 20000, last = port + 20; m_port == 0 && port < last; ++port) {
            m_folder.write("sshd_config", "Port " + std::to_string(port) + "\nListenAddress 127.0.0.1\nHostKey " + at +
                                              "host\nAuthorizedKeysFile " + at +
                                              "authorized\nPasswordAuthentication no\nStrictModes no\nPidFile " + at +
                                              "sshd.pid\nUsePAM no\n");
            if (shell(m_folder, program + " -f '" + at + "sshd_config' -E '" + at + "sshd.log'").status != 0)
                continue;
            for (int i = 0; i < 50 && !std::filesystem::exists(m_folder / "sshd.pid"); ++i)
                std::this_thread::sleep_for(std::chrono::milliseconds(50));
            if (std::filesystem::exists(m_folder / "sshd.pid"))
                m_port = port;
        }
        // The user's own client, configured by a file: Stepscope sees only a name.
        m_folder.write("ssh_config", "Host box\n    HostName 127.0.0.1\n    Port " + std::to_string(m_port) +
                                         "\n    IdentityFile " + at +
                                         "user\n    IdentitiesOnly yes\n    "
                                         "UserKnownHostsFile " +
                                         at + "known\n    StrictHostKeyChecking accept-new\n");
        std::filesystem::create_directory(m_folder / "bin");
        std::filesystem::create_directory(m_folder / "cache");
        const auto client = m_folder.write("bin/ssh", "#!/bin/sh\nexec /usr/bin/ssh -F '" + at +
                                                          "ssh_config' -o \"SetEnv=XDG_CACHE_HOME=x\" \"$@\"\n");
        std::filesystem::permissions(client, std::filesystem::perms::owner_all);
    }
    ~Sshd()
    {
        if (m_port != 0)
            shell(m_folder, "kill $(cat '" + (m_folder / "sshd.pid").string() + "')");
    }
    Sshd(const Sshd&) = delete;
    Sshd& operator=(const Sshd&) = delete;
    [[nodiscard]] bool runs() const { return m_port != 0; }
    [[nodiscard]] const Folder& folder() const { return m_folder; }
    /// The program with an ssh that knows the host `box`.
    [[nodiscard]] std::string program() const
    {
        return "PATH='" + (m_folder / "bin").string() + "':$PATH " + STEPSCOPE_CLI;
    }
    [[nodiscard]] std::string line(const std::string& command) const
    {
        return program() + " record -o '" + (m_folder / "t.sstrace").string() + "' --host box -- " + command;
    }

private:
    Folder m_folder;
    int m_port = 0;
};

} // namespace record_test
