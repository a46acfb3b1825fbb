#pragma once

#include "profiler/model/result.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

/// What the far side of a recording on another machine sends. The near side does not trust it: every length and every
/// name is checked before it is used.
namespace advisor::runner {

enum class RemoteFrame : char {
    Output = 'O', ///< of the recorded command
    Errors = 'E', ///< the same, of its standard error
    Ended = 'S',  ///< its exit status, in decimal
    File = 'F',   ///< a file follows: its size in decimal, a blank, and its name relative to the folder
    Data = 'D',   ///< the next bytes of that file
    Done = 'Z',   ///< no more files
};

/// The longest payload.
inline constexpr std::uint32_t kMostFrameBytes = 1 << 20;
/// Comes before the first frame. What shells print before their first command is skipped.
inline constexpr std::string_view kRemoteBegin = "\n@stepscope-remote 1\n";

/// The bytes of a frame: type, length (little endian) and payload.
std::string encodeFrame(RemoteFrame type, std::string_view payload);

/// Takes frames from a stream of bytes.
class RemoteFrames {
public:
    /// @param take  called for each complete frame; an error ends the stream
    using Take = std::function<profiler::Result<void>(RemoteFrame, std::string_view)>;

    /// Adds bytes as they arrive. Fails if they are no frames, or if `take` fails.
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

/// Text from another machine for a terminal: without control characters, except line breaks, and not longer than `most`
/// bytes.
std::string harmlessText(std::string_view text, std::size_t most = 4000);

} // namespace advisor::runner
