#pragma once

#include "profiler/model/result.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

/// What the far side of a recording or of an analysis on another machine sends. The near side does not trust it: every
/// length and every name is checked before it is used, and text cannot control the terminal.
namespace advisor::runner {

enum class RemoteFrame : char {
    Output = 'O',   ///< of the recorded command
    Errors = 'E',   ///< the same, of its standard error
    Ended = 'S',    ///< its exit status, in decimal
    File = 'F',     ///< a file follows: its size in decimal, a blank, and its name relative to the folder
    Data = 'D',     ///< the next bytes of that file
    Done = 'Z',     ///< no more files
    Progress = 'P', ///< of a conversion: its share in decimal, [0, 1]
    Opened = 'I',   ///< a trace is open: the bytes of its sealed file in decimal, a blank, and a name of its contents
    Ranks = 'J',    ///< the path is not a trace but a folder or a pattern: the ranks of a job
    Failed = 'X',   ///< a trace cannot be opened: the message
};

/// The longest payload.
inline constexpr std::uint32_t kMostFrameBytes = 1 << 20;
/// Comes before the first frame. What shells print before their first command is skipped.
inline constexpr std::string_view kRemoteBegin = "\n@stepscope-remote 1\n";

/// The error for bytes that are not a frame, or for a frame that is not allowed.
tl::unexpected<profiler::Error> noRemoteFrame();

/// The bytes of a frame: type, length (little endian) and payload.
std::string encodeFrame(RemoteFrame type, std::string_view payload);

/// Takes frames from a stream of bytes.
class RemoteFrames {
public:
    /// @param take  called for each complete frame; an error ends the stream
    using Take = std::function<profiler::Result<void>(RemoteFrame, std::string_view)>;

    /// Adds bytes as they arrive. Fails if they are not frames, or if `take` fails.
    profiler::Result<void> add(std::string_view bytes, const Take& take);
    /// Whether the first frame may come.
    [[nodiscard]] bool hasBegun() const { return m_hasBegun; }

private:
    std::string m_bytes;
    bool m_hasBegun = false;
};

/// A file that the far side offers.
struct RemoteFile {
    std::filesystem::path name; ///< relative, without "..", of at most three parts
    std::uint64_t bytes = 0;
};
/// Parses the payload of a File frame. nullopt if it is not a size and a harmless name: letters, digits and "._-+@" in
/// each part, which does not begin with a dot.
std::optional<RemoteFile> remoteFileOf(std::string_view payload);

/// Makes text from another machine harmless for a terminal while it arrives: control characters (C0 except line breaks
/// and tabs; C1; those that change the direction of text) and bytes that are not UTF-8 become question marks.
class HarmlessText {
public:
    /// @return the harmless text of these bytes; the beginning of an incomplete character comes with the next ones
    std::string add(std::string_view bytes);
    /// The rest.
    std::string end();

private:
    std::string m_rest; ///< the beginning of a character
};

/// The same for a text that is complete, of at most `most` bytes.
std::string harmlessText(std::string_view text, std::size_t most = 4000);

} // namespace advisor::runner
