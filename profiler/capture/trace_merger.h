#pragma once

#include "profiler/io/wire/frame.h"
#include "profiler/io/wire/frame_writer.h"
#include "profiler/io/wire/ring_file.h"
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

/// Names, tracks and devices of a trace that is put together from parts, and its file.
class IdRemapping {
public:
    explicit IdRemapping(wire::FrameWriter& to) : m_to(to) {}

    std::uint32_t string(std::string_view text);
    std::uint32_t newTrack() { return m_tracks++; }
    /// The number of a process that launches device work, in the order in which they come.
    std::int64_t newLauncher() { return m_launchers++; }
    /// The number of a GPU: the one it has in its process, unless that is another GPU's already.
    std::uint32_t device(std::uint32_t wanted, const std::string& uuid);
    /// "GPU 1 clock" for "GPU-0011… clock", where the GPU of that UUID is known.
    [[nodiscard]] std::string withGpuNumber(const std::string& counter) const;
    /// The first value of a key counts.
    void setMetadata(std::string_view key, std::string_view value);
    [[nodiscard]] bool hasMetadata(const std::string& key) const { return m_metadata.contains(key); }
    /// All of one process. What describes the program ("program", "program.…") is taken as a whole from the process that
    /// made the most training steps ("program.steps"), of equals from the first.
    void setMetadata(const std::map<std::string, std::string>& process);
    void addLoss(const wire::LossEntry& loss);
    void countEvents(std::uint64_t events) { m_events += events; }
    [[nodiscard]] std::uint64_t events() const { return m_events; }
    [[nodiscard]] const wire::LossEntry& loss() const { return m_loss; }
    /// Whether a clock frame was taken: one is enough for a machine.
    bool takeClock();

    /// Writes a frame, after the strings that it may name.
    Result<void> write(wire::FrameType type, std::span<const std::byte> payload);
    /// Metadata, losses, the end.
    Result<void> finish();

private:
    Result<void> writeStrings();

    wire::FrameWriter& m_to;
    std::unordered_map<std::string, std::uint32_t> m_strings{{"", 0}};
    std::vector<wire::Payload> m_newStrings; ///< entries of frames to come
    std::uint32_t m_tracks = 0;
    std::int64_t m_launchers = 0;
    std::map<std::string, std::uint32_t> m_devices; ///< by UUID
    std::set<std::uint32_t> m_deviceNumbers;
    std::map<std::string, std::string> m_metadata;
    std::int64_t m_programSteps = -1; ///< of the process that describes the program; −1: none does yet
    wire::LossEntry m_loss{};
    std::uint64_t m_events = 0;
    bool m_hasClock = false;
};

/// One process's part: turns its numbers into the trace's.
class TraceMerger {
public:
    explicit TraceMerger(IdRemapping& trace) : m_trace(trace) {}

    /// A frame of the part. What its payload refers to and nobody defined gets a name that says so.
    Result<void> take(wire::FrameType type, std::span<const std::byte> payload);
    /// What the ring file holds, once the frames are taken.
    Result<void> take(const wire::RecoveredEvents& leftovers);
    /// Nothing more comes: adds up what was lost, and tells the facts, of each the last that the process told.
    void end();

private:
    struct KnownTrack {
        std::uint32_t number = 0;
        std::uint64_t taken = 0; ///< records of its ring that were seen
        wire::TrackEntry entry{};
    };
    std::uint32_t string(std::uint32_t id);
    KnownTrack& track(std::uint32_t number);
    std::int64_t correlation(std::int64_t id);
    void takeStrings(std::span<const std::byte> payload);
    Result<void> takeTracks(std::span<const std::byte> payload);
    Result<void> writeTrack(const KnownTrack& track);
    Result<void> takeBatch(const wire::EventBatch& batch, std::vector<wire::EventRecord>& records);
    Result<void> takePacked(std::span<const std::byte> payload);
    Result<void> takeDevice(std::span<const std::byte> payload);

    IdRemapping& m_trace;
    std::unordered_map<std::uint32_t, std::uint32_t> m_strings; ///< ids of the trace, by the part's
    std::unordered_map<std::uint32_t, std::string> m_texts;
    std::unordered_map<std::uint32_t, KnownTrack> m_tracks;
    std::map<std::uint32_t, std::uint32_t> m_devices;
    std::map<std::string, std::string> m_facts;
    std::optional<std::int64_t> m_launcher; ///< once a correlation id is met
    wire::LossEntry m_loss{};
    std::uint64_t m_missing = 0;
};

} // namespace profiler::capture
