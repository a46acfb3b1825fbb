#pragma once

#include "profiler/formats/container/frame.h"
#include "profiler/formats/container/frame_writer.h"
#include "profiler/formats/container/ring_file.h"
#include "profiler/model/result.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace profiler::capture {

/// Assigns names, tracks and devices of a merged trace, and writes its file.
class IdRemapping {
public:
    explicit IdRemapping(container::FrameWriter& to) : m_to(to) {}

    std::uint32_t string(std::string_view text);
    std::uint32_t newTrack() { return m_tracks++; }
    /// Number for the next process that launches device work, in order of appearance.
    std::int64_t newLauncher() { return m_launchers++; }
    /// Number for a GPU: the number that its process uses, unless another GPU already has it.
    std::uint32_t device(std::uint32_t wanted, const std::string& uuid);
    /// Replaces the UUID in a counter's name by the GPU's number, if known: "GPU-0011… clock" becomes "GPU 1 clock".
    [[nodiscard]] std::string withGpuNumber(const std::string& counter) const;
    /// If a key is set more than once, the first value counts.
    void setMetadata(std::string_view key, std::string_view value);
    [[nodiscard]] bool hasMetadata(const std::string& key) const { return m_metadata.contains(key); }
    /// Adds all metadata of one process. Entries that describe the program ("program", "program.…") are taken as a
    /// whole from the process with the most training steps ("program.steps"), or from the first of several.
    void setMetadata(const std::map<std::string, std::string>& process);
    void addLoss(const container::LossEntry& loss);
    void countEvents(std::uint64_t events) { m_events += events; }
    [[nodiscard]] std::uint64_t events() const { return m_events; }
    [[nodiscard]] const container::LossEntry& loss() const { return m_loss; }
    /// True for the first clock frame; one is enough for a machine.
    bool takeClock();

    /// Writes a frame, preceded by the strings that it may refer to.
    Result<void> write(container::FrameType type, std::span<const std::byte> payload);
    /// Writes metadata, losses and the end.
    Result<void> finish();

private:
    Result<void> writeStrings();

    container::FrameWriter& m_to;
    std::unordered_map<std::string, std::uint32_t> m_strings{{"", 0}};
    std::vector<container::Payload> m_newStrings; ///< entries of frames still to be written
    std::uint32_t m_tracks = 0;
    std::int64_t m_launchers = 0;
    std::map<std::string, std::uint32_t> m_devices; ///< by UUID
    std::set<std::uint32_t> m_deviceNumbers;
    std::map<std::string, std::string> m_metadata;
    std::int64_t m_programSteps = -1; ///< of the process that describes the program; −1 if there is none yet
    container::LossEntry m_loss{};
    std::uint64_t m_events = 0;
    bool m_hasClock = false;
};

/// Remaps the ids in one process's part to those of the merged trace.
class TraceMerger {
public:
    explicit TraceMerger(IdRemapping& trace) : m_trace(trace) {}

    /// Adds a frame of the part. Ids that are not defined get a name that says so.
    Result<void> take(container::FrameType type, std::span<const std::byte> payload);
    /// Adds the contents of the ring file, after the frames.
    Result<void> take(const container::RecoveredEvents& leftovers);
    /// Call at the end of the part: adds up its losses and passes on its metadata, using the last value of each key.
    void end();

private:
    struct KnownTrack {
        std::uint32_t number = 0;
        std::uint64_t taken = 0; ///< number of records from its ring that have been added
        container::TrackEntry entry{};
    };
    std::uint32_t string(std::uint32_t id);
    KnownTrack& track(std::uint32_t number);
    std::int64_t correlation(std::int64_t id);
    void takeStrings(std::span<const std::byte> payload);
    Result<void> takeTracks(std::span<const std::byte> payload);
    Result<void> writeTrack(const KnownTrack& track);
    Result<void> takeBatch(const container::EventBatch& batch, std::vector<container::EventRecord>& records);
    Result<void> takePacked(std::span<const std::byte> payload);
    Result<void> takeDevice(std::span<const std::byte> payload);

    IdRemapping& m_trace;
    std::unordered_map<std::uint32_t, std::uint32_t> m_strings; ///< ids in the merged trace, by id in the part
    std::unordered_map<std::uint32_t, std::string> m_texts;
    std::unordered_map<std::uint32_t, KnownTrack> m_tracks;
    std::map<std::uint32_t, std::uint32_t> m_devices;
    std::map<std::string, std::string> m_facts;
    std::optional<std::int64_t> m_launcher; ///< set when the first correlation id is found
    container::LossEntry m_loss{};
    std::uint64_t m_missing = 0;
};

} // namespace profiler::capture
