#pragma once

#include "advisor/runner/remote_host.h"
#include "advisor/runner/remote_setup.h"
#include "profiler/model/positioned_bytes.h"
#include "profiler/model/result.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

namespace advisor::runner {

/// Id of the error for a path that is the ranks of a job.
inline constexpr std::string_view kRemoteRanks = "remote.ranks";

/// The sealed file of a trace in another place. Its bytes come when they are read, in pieces, and stay here in a file
/// without a name. The far side is not trusted: it may send wrong bytes, which the checksums of the trace notice, but
/// no other amount of them than asked for. Thread-safe.
class RemoteTrace final : public profiler::PositionedBytes {
public:
    enum class State { Connected, Lost, Closed };

    /// Callbacks while a trace is opened. All may be empty except `goesOn`.
    struct Opening {
        std::function<void(std::uint64_t)> uploading; ///< bytes of the program, which is not there yet
        std::function<void(double)> converting;       ///< share of the conversion there, [0, 1]
        RemoteHost::GoesOn goesOn;                    ///< called about ten times per second; false cancels
    };
    /// Uploads the program if needed, and opens the trace; there, it is converted if it is in another format. May take
    /// minutes.
    /// @param path  relative to the shell's folder there
    /// @return an error with the id kRemoteRanks if the path is a folder or a pattern: see readRemoteRanks()
    static profiler::Result<std::shared_ptr<RemoteTrace>> open(std::shared_ptr<const RemoteHost> host,
                                                               const std::string& path, const Opening& opening);
    ~RemoteTrace() override;

    /// Connects again after the connection was lost. What was read before stays. Fails if it cannot connect, or if the
    /// trace there has changed. Not from two threads at a time.
    profiler::Result<void> reconnect(const Opening& opening);
    /// Ends the connection soon, and all waiting reads with an error. Does not wait.
    void close();

    [[nodiscard]] std::uint64_t size() const override;
    /// Waits for bytes that are not here yet, except on the impatient thread. Fails with remote.not_here on that one,
    /// and with remote.trace_lost without a connection.
    [[nodiscard]] profiler::Result<std::size_t> read(std::uint64_t offset, std::span<std::byte> into) const override;
    /// Reads on this thread never wait: they request what is missing, and fail.
    void setImpatient(std::thread::id thread);

    [[nodiscard]] State state() const;
    /// Why the connection was lost.
    [[nodiscard]] std::optional<profiler::Error> whyLost() const;
    /// Bytes that have come here.
    [[nodiscard]] std::uint64_t fetched() const;
    [[nodiscard]] const RemoteHost& host() const;
    [[nodiscard]] const RemoteProgram& program() const;

private:
    struct Connection;
    explicit RemoteTrace(std::unique_ptr<Connection> connection);
    std::unique_ptr<Connection> m;
};

} // namespace advisor::runner
